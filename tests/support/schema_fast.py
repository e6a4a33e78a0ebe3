"""Whether JSON obeys a schema, several times as fast as jsonschema, which says what is wrong with JSON that does not.

Each keyword of the schema becomes a function once.  A keyword that is not known here is a KeyError, so that no rule is
passed over; tree/test_schema_fast.py compares the answers with jsonschema's."""
import re

NOT_RULES = {"$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples"}
BESIDE = {"prefixItems", "then", "else"}  # read by `items` and `if`
TYPES = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list),
         "string": lambda v: isinstance(v, str), "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
         "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
         "integer": lambda v: not isinstance(v, bool) and (
             isinstance(v, int) or isinstance(v, float) and v.is_integer())}


def of_type(kind, accepts):
    """A rule that concerns values of one type alone."""
    is_kind = TYPES[kind]
    return lambda v: not is_kind(v) or accepts(v)


def is_one_of(values):
    if any(isinstance(x, (dict, list)) for x in values):
        raise KeyError("enum of objects or arrays")
    return lambda v: any(isinstance(x, bool) == isinstance(v, bool) and x == v for x in values)


def type_of(names):
    wanted = [TYPES[n] for n in ([names] if isinstance(names, str) else names)]
    return wanted[0] if len(wanted) == 1 else lambda v: any(is_type(v) for is_type in wanted)


def all_differ(values):
    keys = [(type(v), v) if not isinstance(v, (dict, list, float, bool)) else None for v in values]
    if None in keys:
        raise KeyError("uniqueItems of values that are neither strings nor integers")
    return len(set(keys)) == len(keys)


class Schema:
    """Schema(json).accepts(value)."""

    def __init__(self, root):
        self.root, self.made = root, {}
        self.accepts = self.compiled(root)

    def compiled(self, schema):
        if isinstance(schema, bool):
            return lambda v: schema
        rules = [getattr(self, f"rule_{key.lstrip('$')}", None) for key in schema]
        unknown = [key for key, rule in zip(schema, rules) if rule is None and key not in NOT_RULES | BESIDE]
        if unknown:
            raise KeyError(unknown[0])
        tests = [rule(schema[key], schema) for key, rule in zip(schema, rules) if rule is not None]
        if "prefixItems" in schema and "items" not in schema:
            tests.append(self.rule_items(True, schema))
        return tests[0] if len(tests) == 1 else lambda v: all([test(v) for test in tests])

    def rule_ref(self, name, _):
        def accepts(v):
            if name not in self.made:
                if not name.startswith("#/$defs/"):
                    raise KeyError(name)
                self.made[name] = self.compiled(self.root["$defs"][name.removeprefix("#/$defs/")])
            return self.made[name](v)
        return accepts

    def rule_type(self, names, _):
        return type_of(names)

    def rule_enum(self, values, _):
        return is_one_of(values)

    def rule_const(self, value, _):
        return is_one_of([value])

    def rule_properties(self, properties, _):
        of = {name: self.compiled(schema) for name, schema in properties.items()}
        return of_type("object", lambda v: all([of[k](x) for k, x in v.items() if k in of]))

    def rule_additionalProperties(self, schema, beside):
        known, accepts = beside.get("properties", {}), self.compiled(schema)
        return of_type("object", lambda v: all([accepts(x) for k, x in v.items() if k not in known]))

    def rule_propertyNames(self, schema, _):
        accepts = self.compiled(schema)
        return of_type("object", lambda v: all([accepts(k) for k in v]))

    def rule_required(self, names, _):
        return of_type("object", lambda v: all([n in v for n in names]))

    def rule_dependentRequired(self, of, _):
        return of_type("object", lambda v: all([n in v for k, names in of.items() if k in v for n in names]))

    def rule_items(self, schema, beside):
        first = [self.compiled(s) for s in beside.get("prefixItems", ())]
        accepts = self.compiled(schema)
        return of_type("array", lambda v: all([a(x) for a, x in zip(first, v)]) and
                        all([accepts(x) for x in (v[len(first):] if first else v)]))

    def rule_minItems(self, least, _):
        return of_type("array", lambda v: len(v) >= least)

    def rule_maxItems(self, most, _):
        return of_type("array", lambda v: len(v) <= most)

    def rule_uniqueItems(self, wanted, _):
        return of_type("array", lambda v: not wanted or all_differ(v))

    def rule_minimum(self, least, _):
        return of_type("number", lambda v: v >= least)

    def rule_maximum(self, most, _):
        return of_type("number", lambda v: v <= most)

    def rule_minLength(self, least, _):
        return of_type("string", lambda v: len(v) >= least)

    def rule_maxLength(self, most, _):
        return of_type("string", lambda v: len(v) <= most)

    def rule_pattern(self, pattern, _):
        search = re.compile(pattern).search
        return of_type("string", lambda v: search(v) is not None)

    def rule_allOf(self, schemas, _):
        each = [self.compiled(s) for s in schemas]
        return lambda v: all([accepts(v) for accepts in each])

    def rule_anyOf(self, schemas, _):
        each = [self.compiled(s) for s in schemas]
        return lambda v: any([accepts(v) for accepts in each])

    def rule_oneOf(self, schemas, _):
        each = [self.compiled(s) for s in schemas]
        return lambda v: sum([accepts(v) for accepts in each]) == 1

    def rule_not(self, schema, _):
        accepts = self.compiled(schema)
        return lambda v: not accepts(v)

    def rule_if(self, schema, beside):
        first, then, other = (self.compiled(s) for s in (schema, beside.get("then", True), beside.get("else", True)))
        return lambda v: then(v) if first(v) else other(v)
