"""The unit test of edits can fail: each error planted in ir/model/edit*.c is found by it.

    planted.py CC LIBRARY FLAGS...

Each plant replaces one piece of text.  The file is compiled with it and linked, before LIBRARY (libpcc.a), with
tests/unit/ir/model/edit.c.  FLAGS are the compiler's and linker's (after --link) for both.  Without a plant the test
must pass, with each it must fail, hang or crash."""

import os
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "tests/unit/ir/model/edit.c"
HANGS = 3  # times what the test takes without a plant is a hang, in whole seconds of CPU time
# (name, file, text, text in its place)
PLANTS = [
    ("stale user", "edit_end", "    if (same)\n        return p->in;", "    if (p->in.n > 0)\n        return p->in;"),
    (
        "captures of outputs forgotten",
        "edit_end",
        "            if (v != 0 && m->value[v].graph != g)\n                add_captures(x, &c, g, v);\n"
        "        }\n    }",
        "            (void)v;\n        }\n    }",
    ),
    ("captured once only", "edit_end", "g = m->node[m->graph[g].owner].graph) {", "g = home) {"),
    (
        "wrong order",
        "edit_end",
        "            if (def != 0 && x->position[def] >= k)\n                return false;",
        "            (void)def;",
    ),
    (
        "another order than the list's",
        "edit_end",
        "heap_push(&ready, r, 0, r);",
        "heap_push(&ready, -(int64_t)r, 0, r);",
    ),
    ("layers stay behind", "edit_end", "    m->layer = move_facts(x, m->layer);\n", ""),
    ("colours stay behind", "edit_end", "    m->color = move_facts(x, m->color);\n", ""),
    ("devices stay behind", "edit_end", "    m->device_ann = move_facts(x, m->device_ann);\n", ""),
    ("slots stay behind", "edit_end", "    m->slot_ann = move_facts(x, m->slot_ann);\n", ""),
    (
        "the way back stays behind",
        "edit_end",
        "            now[k + 1] = m->backward[fact_of(x, k, /*copies=*/false)];",
        "            now[k + 1] = m->backward[0];",
    ),
    ("costs stay behind", "edit_end", "    move_costs(x);\n", ""),
    ("costs for what was only made from a node", "edit_end", "copies && !s->copy ? 0 : s->from", "s->from"),
    ("sizes of new values unknown", "edit_end", "x->e->value[v].like != 0 ? now[x->e->value[v].like] : none", "none"),
    (
        "numbers of bodies are the old ones",
        "edit_end",
        "            a.u.g = x->graph_now[a.u.g];",
        "            (void)0;",
    ),
    ("owners are the old ones", "edit_end", "        now[to].owner = x->now[now[to].owner];", "        (void)0;"),
    ("makers are the old ones", "edit_end", "        p->def = x->now[p->def];", "        (void)0;"),
    (
        "bodies of dropped nodes stay",
        "edit_end",
        "            x->e->slot[n].gone = true;\n}",
        "            (void)0;\n}",
    ),
    (
        "what bodies return is still read",
        "edit_end",
        "        change_output_reads(x, g, UINT32_MAX, unused);\n",
        "        (void)unused;\n",
    ),
    (
        "too much is swept",
        "edit_end",
        "        if (v != 0 && x->uses[v] != 0)\n            return false;",
        "        if (v != 0 && x->uses[v] > 1)\n            return false;",
    ),
    ("nothing is swept", "edit_end", "    lost = lost || lost_readers(x, v);", "    lost = false;"),
    (
        "names collide",
        "edit",
        "        taken = map_get(&e->taken, map_key(what, name)) != 0;",
        "        taken = false;",
    ),
    (
        "names of functions collide",
        "edit",
        "        take_names(e, m->function[f].body);",
        "        (void)f;",
    ),
    (
        "a weight's tensor has another name",
        "edit",
        "        x->tensor = edit_tensor_named(e, x->tensor, x->name);",
        "        (void)0;",
    ),
    ("the maker reads itself", "edit", "        freeze_operands(e, e->m->value[w].def);", "        (void)0;"),
    (
        "later readers are replaced, too",
        "edit",
        "    while (i != 0 && e->change[i].time <= set_at)\n        i = e->change[i].next;",
        "    (void)set_at;",
    ),
    (
        "what was found out is stale",
        "edit",
        "            if (e->value[v].resolved_at == e->nchange) {",
        "            if (e->value[v].resolved_at != 0) {",
    ),
    ("outputs have no time", "edit", " && e->value[v].output_time > set_at", ""),
    ("an output loses its name", "edit", "    y->name = name;\n", ""),
    (
        "copies read the original's values",
        "edit_copy",
        "        vid v = copied_value(c, edit_in(e, p.from, i));",
        "        vid v = edit_in(e, p.from, i);",
    ),
    (
        "copies have the original's bodies",
        "edit_copy",
        "            a.u.g = copy_body(c, a.u.g, copy);",
        "            (void)copy;",
    ),
    (
        "slices of slices begin anew",
        "edit_weight",
        "            out[2 * made] = inner[k] + from - at;",
        "            out[2 * made] = inner[k] + from;",
    ),
]


def spent():
    """Seconds of CPU time that child processes have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Build:
    def __init__(self, cc, library, flags, folder):
        link = flags.index("--link")
        self.cc = [cc, "-O0", "-std=c11", "-D_GNU_SOURCE", "-w", f"-I{ROOT}", *flags[:link]]
        self.libs = [library, *flags[link + 1 :]]
        self.folder = folder
        self.seconds = 300
        self.unit = self.compile(UNIT, "unit")

    def compile(self, source, name):
        out = self.folder / f"{name}.o"
        subprocess.run([*self.cc, "-c", source, "-o", out], check=True)
        return out

    def run(self, name, *objects):
        """Whether the test passes, linked with these objects before the library; it ends at what fails first."""
        program = self.folder / f"{name}.test"
        subprocess.run([*self.cc, self.unit, *objects, *self.libs, "-o", program], check=True)
        test = subprocess.Popen(["sh", "-c", f"ulimit -t {self.seconds}; exec {program}"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors="replace")
        with test:
            if any("[  FAILED  ]" in line for line in test.stderr):
                test.kill()
        return test.returncode == 0


def plant(build, number):
    name, file, text, instead = PLANTS[number]
    source = (ROOT / f"ir/model/{file}.c").read_text(encoding="utf-8")
    if source.count(text) != 1:
        return f"{name}: its text is {source.count(text)} times in ir/model/{file}.c: adapt the plant\n{text}"
    out = build.folder / f"plant{number}.c"
    out.write_text(source.replace(text, instead), encoding="utf-8")
    passes = build.run(f"plant{number}", build.compile(out, f"plant{number}"))
    return f"{name}: not found" if passes else None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as tmp:
        build = Build(sys.argv[1], sys.argv[2], sys.argv[3:], Path(tmp))
        before = spent()
        if not build.run("sound"):
            print("FAILED: the test fails without a plant")
            return 1
        build.seconds = int(HANGS * (spent() - before)) + 1
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [w for w in pool.map(lambda i: plant(build, i), range(len(PLANTS))) if w]
    for w in wrong:
        print(f"FAILED: {w}")
    print(f"{len(PLANTS)} plants, {len(wrong)} not found")
    return 1 if wrong else 0


sys.exit(main())
