// Runs the parts of a split folder one after another, in onnxruntime-web (a browser, Node) or onnxruntime-node.
//
//     node web/run.mjs --ort onnxruntime-web [--inputs FILE.json] [--out FILE.json] [--seed N] [--exact] [--compare]
//
// --ort: the runtime's package or file, yours; nothing is downloaded. --inputs: {"name": [numbers]} or {"name": {"dims":
// [...], "data": [...]}} (default: random, float32 and float64 from 0 to 1, others 0 or 1, in the planned sizes);
// --exact: the runtime's optimisations off, which join other operators in a part than in the whole model; --compare: so,
// and runs the whole model, too, whose bits the parts must give.
// In a page: import { readSplit, randomInputs, runParts } from "./run.mjs" (index.html does).

/** What is said in one line. */
export class Failed extends Error {}

// Element types of ONNX that the runtimes' tensors have, in their words.
const TYPES = new Map(Object.entries({ float: "float32", double: "float64" }).concat(
  ["float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool", "string", "int4",
    "uint4"].map((t) => [t, t])));

/** Text of a manifest as it may be shown on one line of a terminal. */
const printable = (text) => String(text).replace(/[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
  (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

function need(condition, text) {
  if (!condition) throw new Failed(`manifest.json: ${printable(text)}`);
}

const isList = (list, test) => Array.isArray(list) && list.every(test);
const isText = (x) => typeof x === "string";
const isFile = (x) => isText(x) && /^[^./\\][^/\\]*$/.test(x);

/** The type and sizes of a row of "inputs", for a tensor of the runtime. */
function readInput(row, values) {
  need(row && isText(row.name), 'inputs: expected objects with "name"');
  const said = values.get(row.name)?.onnx_type;
  const type = TYPES.get(/^tensor\((\w+)\)$/.exec(isText(said) ? said : "")?.[1]);
  need(type, `input '${row.name}' is ${said}, which the runtime's tensors are not`);
  const known = isList(row.sizes, (n) => Number.isSafeInteger(n) && n >= 0);
  return { name: row.name, type, dims: known ? row.sizes : null };
}

/** Checks a row of "parts". made: names of the tensors that are there before it; gets those that it makes. */
function readPart(row, made) {
  need(row && isFile(row.file), 'parts: expected "file", the name of a file of the folder');
  need(row.data === undefined || isFile(row.data), `${row.file}: "data" is no name of a file of the folder`);
  need(isList(row.inputs, isText) && isList(row.outputs, isText), `${row.file}: expected lists "inputs" and "outputs"`);
  for (const name of row.inputs) need(made.has(name), `${row.file}: '${name}' is read before a part makes it`);
  for (const name of row.outputs) {
    need(!made.has(name), `${row.file}: '${name}' is made twice`);
    made.add(name);
  }
  return { file: row.file, data: row.data === undefined ? [] : [row.data], inputs: row.inputs, outputs: row.outputs };
}

/** What runParts() wants of the text of manifest.json: {inputs, outputs, parts, whole}; throws Failed. */
export function readSplit(text) {
  let m;
  try {
    m = JSON.parse(text);
  } catch (e) {
    throw new Failed(`manifest.json: ${printable(e.message)}`);
  }
  need(m && m.pcc_manifest === 1, 'expected a manifest with "pcc_manifest": 1');
  need(m.values && typeof m.values === "object" && !Array.isArray(m.values), 'expected an object "values"');
  need([m.inputs, m.outputs, m.parts].every(Array.isArray), 'expected lists "inputs", "outputs" and "parts"');
  const values = new Map(Object.entries(m.values));
  const inputs = m.inputs.map((row) => readInput(row, values));
  const made = new Set(inputs.map((i) => i.name));
  const parts = m.parts.map((row) => readPart(row, made));
  const outputs = m.outputs.map((row) => {
    need(row && isText(row.name) && made.has(row.name), `output '${row?.name}' is made by no part`);
    return row.name;
  });
  need(m.model && isFile(m.model.file), 'model: expected "file", the name of a file of the folder');
  const data = m.weights?.files ?? [];
  need(isList(data, isFile), 'weights: expected "files", names of files of the folder');
  return { inputs, outputs, parts, whole: { file: m.model.file, data, inputs: inputs.map((i) => i.name), outputs } };
}

/** A generator of numbers from 0 to 1 (mulberry32), the same for the same seed. */
function randomNumbers(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A tensor of numbers (or texts), one for each element; of 4-bit types one for each byte. */
export function makeTensor(ort, type, numbers, dims) {
  const whole = (x) => (typeof x === "boolean" ? Number(x) : x);
  if (type === "string") return new ort.Tensor("string", numbers.map(String), dims);
  if (type.endsWith("int64")) {
    const Ints = type === "int64" ? BigInt64Array : BigUint64Array;
    return new ort.Tensor(type, Ints.from(numbers, (x) => BigInt(whole(x))), dims);
  }
  if (type === "float16" && typeof Float16Array === "undefined") {
    const half = new Map([[0, 0], [1, 0x3c00]]);
    if (!numbers.every((x) => half.has(Number(x)))) throw new Failed("float16 inputs other than 0 and 1 need a newer runtime");
    return new ort.Tensor(type, Uint16Array.from(numbers, (x) => half.get(Number(x))), dims);
  }
  const arrays = { float32: Float32Array, float64: Float64Array, int8: Int8Array, int16: Int16Array, uint16: Uint16Array,
    int32: Int32Array, uint32: Uint32Array, float16: globalThis.Float16Array };
  const numeric = (x) => (typeof x === "string" ? Number(x) : whole(x)); // "NaN", "Infinity"
  return new ort.Tensor(type, (arrays[type] ?? Uint8Array).from(numbers, numeric), dims);
}

/** Random inputs in the sizes that were planned for, as a Map of tensors. */
export function randomInputs(ort, split, seed = 0) {
  const next = randomNumbers(seed);
  return new Map(split.inputs.map(({ name, type, dims }) => {
    if (!dims) throw new Failed(`input '${printable(name)}': its sizes are not known: give it`);
    const count = dims.reduce((a, b) => a * b, 1);
    const bytes = type.endsWith("int4") ? Math.ceil(count / 2) : count;
    const real = type === "float32" || type === "float64";
    return [name, makeTensor(ort, type, Array.from({ length: bytes }, () => (real ? next() : Math.round(next()))), dims)];
  }));
}

/** Inputs from JSON: {"name": [numbers]} or {"name": {"dims": [...], "data": [...]}}, as a Map of tensors. */
export function givenInputs(ort, split, text) {
  let said;
  try {
    said = JSON.parse(text);
  } catch (e) {
    throw new Failed(`inputs: ${printable(e.message)}: expected JSON, {"name": [numbers]}`);
  }
  if (!said || typeof said !== "object" || Array.isArray(said)) throw new Failed('inputs: expected {"name": [numbers]}');
  const given = new Map(Object.entries(said)), known = split.inputs.map((i) => i.name);
  for (const name of given.keys())
    if (!known.includes(name)) {
      throw new Failed(`inputs: '${printable(name)}' is no input of the model, whose inputs are ${printable(known.join(", "))}`);
    }
  return new Map(split.inputs.map(({ name, type, dims }) => {
    const said = given.get(name), data = Array.isArray(said) ? said : said?.data;
    if (!Array.isArray(data)) throw new Failed(`input '${printable(name)}' is not given`);
    return [name, makeTensor(ort, type, data, said.dims ?? dims)];
  }));
}

/** Runs a model with the tensors of a Map; returns its outputs as [name, tensor]. The session is gone then. */
async function runModel(ort, at, model, tensors, options) {
  const feeds = Object.create(null);
  for (const name of model.inputs) feeds[name] = tensors.get(name);
  const web = ort.env?.versions?.web !== undefined; // onnxruntime-node finds weights beside the model by itself
  const external = web ? { externalData: model.data.map((path) => ({ path, data: at(path) })) } : {};
  const session = await ort.InferenceSession.create(at(model.file), { ...options, ...external });
  try {
    const wanted = new Set(session.inputNames); // a session has no inputs that its model does not read
    for (const name of model.inputs) if (!wanted.has(name)) delete feeds[name];
    const made = await session.run(feeds, model.outputs);
    return model.outputs.map((name) => [name, made[name]]);
  } finally {
    await session.release();
  }
}

/** Runs the parts in their order; returns the model's outputs as a Map. at: URL or path of a file of the folder; inputs:
 * a Map of tensors; options: of sessions; say: called with a line before each part. A tensor goes when its last reader
 * has run. */
export async function runParts(ort, split, at, inputs, options = {}, say = () => {}) {
  const tensors = new Map(inputs), last = new Map();
  split.parts.forEach((part, k) => part.inputs.forEach((name) => last.set(name, k)));
  split.outputs.forEach((name) => last.set(name, split.parts.length));
  for (const [k, part] of split.parts.entries()) {
    say(`${part.file}, ${k + 1} of ${split.parts.length}`);
    for (const [name, value] of await runModel(ort, at, part, tensors, options)) tensors.set(name, value);
    for (const name of [...tensors.keys()]) if (!(last.get(name) > k)) tensors.delete(name);
  }
  return new Map(split.outputs.map((name) => [name, tensors.get(name)]));
}

/** Runs the whole model of the folder; as runParts(). */
export async function runWhole(ort, split, at, inputs, options = {}) {
  const made = new Map(await runModel(ort, at, split.whole, inputs, options));
  return new Map(split.outputs.map((name) => [name, made.get(name)]));
}

/** The first output in which two results differ, bit by bit; null: none. */
export function firstDifference(one, two) {
  const bytes = (t) => (t.type === "string" ? JSON.stringify(t.data)
    : String(new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength)));
  for (const [name, a] of one) {
    const b = two.get(name);
    if (a.type !== b.type || String(a.dims) !== String(b.dims) || bytes(a) !== bytes(b)) return name;
  }
  return null;
}

/** A line about an output: name, type, sizes, first elements. */
export function describe(name, tensor) {
  const some = Array.from(tensor.data.slice(0, 6), String).join(", ");
  return `${printable(name)} ${tensor.type} [${tensor.dims}]: ${printable(some)}${tensor.size > 6 ? ", ..." : ""}`;
}

/** Options of sessions. exact: no optimisations. */
export const sessionOptions = (providers, exact) =>
  ({ ...(providers ? { executionProviders: providers } : {}), graphOptimizationLevel: exact ? "disabled" : "all" });

/** Runs the folder for a page or a terminal; say: called with lines. inputs: JSON; null: random. Returns the outputs;
 * throws Failed if compare, and an output has other bits than the whole model's. */
export async function runFolder({ ort, at, manifest, inputs = null, seed = 0, providers, exact, compare }, say) {
  const split = readSplit(manifest), options = sessionOptions(providers, exact || compare);
  const tensors = inputs === null ? randomInputs(ort, split, seed) : givenInputs(ort, split, inputs);
  const outputs = await runParts(ort, split, at, tensors, options, say);
  for (const [name, tensor] of outputs) say(describe(name, tensor));
  if (compare) {
    const differs = firstDifference(outputs, await runWhole(ort, split, at, tensors, options));
    if (differs !== null) throw new Failed(`output '${printable(differs)}' is not the whole model's`);
    say("the parts give the bits of the whole model");
  }
  return outputs;
}

// ---- on the command line of Node

function parse(args) {
  const flags = { exact: false, compare: false }, texts = { ort: "onnxruntime-web", inputs: null, out: null, seed: "0" };
  for (let k = 0; k < args.length; k++) {
    const [, name, value] = /^--(\w+)(?:=(.*))?$/s.exec(args[k]) ?? [];
    if (Object.hasOwn(flags, name) && value === undefined) flags[name] = true;
    else if (Object.hasOwn(texts, name) && (value ?? args[k + 1]) !== undefined) texts[name] = value ?? args[++k];
    else throw new Failed(`${printable(args[k])}: expected --ort, --inputs, --out, --seed, --exact or --compare`);
  }
  if (!/^\d+$/.test(texts.seed)) throw new Failed(`--seed ${printable(texts.seed)}: expected a number`);
  return { ...flags, ...texts, seed: Number(texts.seed) };
}

/** Writes a file that appears whole or not at all; what is there and is no file, such as a pipe, is written to. */
async function writeWhole(path, text) {
  const { rename, rm, stat, writeFile } = await import("node:fs/promises");
  const there = await stat(path).catch(() => null);
  if (there && !there.isFile()) return writeFile(path, text);
  const part = `${path}.part`;
  try {
    await writeFile(part, text);
    await rename(part, path);
  } catch (e) {
    await rm(part, { force: true });
    throw e;
  }
}

/** The runtime: a file, or a package that Node finds from the current folder. */
async function load(name) {
  const { createRequire } = await import("node:module");
  const { resolve } = await import("node:path");
  const { pathToFileURL } = await import("node:url");
  try {
    const path = /^[./]/.test(name) ? resolve(name) : createRequire(resolve("here.js")).resolve(name);
    const found = await import(pathToFileURL(path).href);
    return found.InferenceSession ? found : found.default;
  } catch (e) {
    throw new Failed(`--ort ${printable(name)}: cannot be loaded (npm install onnxruntime-web): ${printable(e.message)}`);
  }
}

async function main(args) {
  const { readFile } = await import("node:fs/promises");
  const { fileURLToPath } = await import("node:url");
  const o = parse(args), at = (name) => fileURLToPath(new URL(`../${encodeURIComponent(name)}`, import.meta.url));
  const ort = await load(o.ort);
  const inputs = o.inputs === null ? null : await readFile(o.inputs, "utf8");
  const outputs = await runFolder({ ...o, ort, at, manifest: await readFile(at("manifest.json"), "utf8"), inputs },
    (line) => console.log(line));
  const plain = (x) => (typeof x === "bigint" || (typeof x === "number" && !Number.isFinite(x)) ? String(x) : x);
  const all = [...outputs].map(([name, t]) => [name, { type: t.type, dims: t.dims, data: Array.from(t.data, plain) }]);
  if (o.out !== null) await writeWhole(o.out, JSON.stringify(Object.fromEntries(all)));
}

if (typeof process !== "undefined" && process.versions?.node && process.argv[1]) {
  const { realpathSync } = await import("node:fs");
  const { pathToFileURL } = await import("node:url");
  if (pathToFileURL(realpathSync(process.argv[1])).href === import.meta.url)
    main(process.argv.slice(2)).then(() => process.exit(0), (e) => {
      console.error(`error: ${e instanceof Failed ? e.message : printable(e.message ?? e)}`);
      process.exit(1);
    });
}
