// The package's exports, besides the cases of all languages.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as runcible from "runcible";

const { Backend, Model, Piece, Tensor, Tokenizer } = runcible;
const require = createRequire(import.meta.url);
const examples = new URL("../examples/", import.meta.url);

const backend = await Backend.open("cpu");
const model = await Model.load("builtin:fable", { backend });

const near = (actual, expected, tolerance = 1e-5) => {
  assert.equal(actual.length, expected.length);
  actual.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= tolerance));
};

test("import and require give one package", () => {
  const required = require("runcible");
  for (const name of Object.keys(required)) {
    assert.equal(runcible[name], required[name], name);
  }
  assert.match(runcible.version, /^\d+\.\d+\.\d+$/);
  assert.equal(runcible.version, require("runcible/package.json").version);
});

test("the package contains its libraries, and Node its libuv", () => {
  const maps = readFileSync("/proc/self/maps", "utf8");
  const libraries = new Set(maps.match(/\/.*(runcible|pcre2|utf8proc|libuv).*\.(so|node)\b/g));
  const home = realpathSync(require.resolve("runcible/package.json"));
  const folder = home.replace(/package\.json$/, "lib/");
  assert.ok(libraries.size >= 4, [...libraries].join());
  for (const library of libraries) assert.ok(library.startsWith(folder), library);
});

test("discover lists the devices", async () => {
  const found = await runcible.discover();
  const names = new Set(found.devices.map((device) => device.backend));
  for (const name of ["cpu", "reference", "opencl", "vulkan"]) {
    assert.ok(names.has(name), name);
  }
});

test("tokenizers open without a model", async () => {
  const opened = await Tokenizer.open("builtin:fable");
  const tokens = opened.tokenize("A fox: \u{1f98a}");
  assert.ok(tokens instanceof Int32Array);
  assert.deepEqual(tokens, model.tokenize("A fox: \u{1f98a}"));
  assert.ok(opened.detokenize([...tokens]).endsWith("A fox: \u{1f98a}"));
  const bytes = Uint8Array.of(0x61, 0xff, 0x62);
  assert.ok(opened.detokenize(opened.tokenize(bytes)).endsWith("a\ufffdb"));
});

test("a load reports progress and ends at a signal", async () => {
  const fractions = [];
  const progress = (fraction) => fractions.push(fraction);
  await Model.load("builtin:fable", { backend: "reference", progress });
  assert.equal(fractions.at(-1), 1);
  const reason = new Error("no more");
  const load = Model.load("builtin:fable", { signal: AbortSignal.abort(reason) });
  await assert.rejects(load, reason);
  const url = new URL("file:///nothing%20here.gguf");
  await assert.rejects(Model.load(url), /nothing here/);
});

test("an opening reports progress and ends at a signal", async () => {
  const fractions = [];
  const progress = (fraction) => fractions.push(fraction);
  const opened = await Backend.open("reference", { threads: 1, progress });
  assert.equal(opened.device.id, "reference:0");
  assert.ok(fractions.length > 0);
  const reason = new Error("no more");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(Backend.open("reference", { signal }), reason);
  await assert.rejects(Backend.open("cpu", { progress: 7 }), TypeError);
});

test("pieces have text and tokens", async () => {
  for await (const piece of model.session().stream("A", { maxTokens: 5 })) {
    assert.ok(piece instanceof Piece && piece.tokens instanceof Int32Array);
    assert.equal(`${piece}`, piece.text);
  }
});

test("seeds may be numbers or bigints", async () => {
  const { text } = await model.session().generate("A", { seed: 1, maxTokens: 5 });
  assert.equal(text, model.session().generateSync("A", { seed: 1n, maxTokens: 5 }).text);
  const seed = 2n ** 64n - 2n;
  const { report } = await model.session().generate("A", { seed, maxTokens: 1 });
  assert.equal(report.seed, seed);
});

test("calls on a session run in their order", async () => {
  const session = model.session();
  session.append("Once upon a time");
  session.decode();
  const tokens = await session.tokens(); // in the order of the calls
  assert.equal(tokens.length, session.position);
  await session.append(Int32Array.of(5));
  assert.equal(session.position, tokens.length + 1);
});

test("logits belong to the caller", async () => {
  const session = model.session();
  await session.append("Once");
  await session.decode();
  const { data } = await session.logits();
  const copy = data.slice();
  await session.append(" upon");
  await session.decode();
  session.close();
  assert.deepEqual(data, copy);
  data[0] = 1;
});

test("tensors have other types", () => {
  const places = Tensor.from([1, 2, 0], [1, 3], backend).argmax(1);
  assert.deepEqual(places.toArray(), Int32Array.of(1));
  const half = Tensor.from([1, 2], [2], backend, { dtype: "f16" });
  assert.equal(half.byteLength, 4);
  assert.deepEqual(half.toArray(), Float32Array.of(1, 2));
  const long = Tensor.from(BigInt64Array.of(-1n, 2n ** 40n), [2], backend);
  assert.deepEqual(long.toArray(), BigInt64Array.of(-1n, 2n ** 40n));
  const packed = Tensor.ones([1, 32], backend, { dtype: "q8_0" });
  assert.equal(packed.byteLength, 34);
  const again = Tensor.fromBytes(new Uint8Array(packed.read()), [1, 32], "q8_0", backend);
  near(again.toArray(), new Array(32).fill(1), 1e-2);
});

test("the chat program of the README runs", () => {
  const path = require.resolve("runcible/package.json").replace(/package\.json$/, "README.md");
  const [, program] = readFileSync(path, "utf8").match(/<!-- tests: chat -->\n```js\n(.*?)```/s);
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: fileURLToPath(examples),
    encoding: "utf8",
  });
  assert.equal(output, "Who will not let go is held.\nIn it there is a bear and a bee.\n");
});

test("the examples run", async () => {
  const example = (name) => fileURLToPath(new URL(name, examples));
  const env = { ...process.env, RUNCIBLE_BACKEND: "cpu" };
  const run = (name, ...rest) =>
    execFileSync(process.execPath, [example(name), ...rest], { env, encoding: "utf8" });
  assert.ok(run("fable.mjs", "A fox").startsWith("A fox"));
  assert.ok(run("sync.cjs").length > 20);
  assert.equal(run("silu_gate.mjs"), "-1.5379\n0.0000\n2.4621\n2.8808\n");
  const server = spawn(process.execPath, [example("server.mjs"), "0"], { env });
  try {
    const [address] = await once(server.stdout, "data");
    const answer = await fetch(String(address).trim() + "A%20goose");
    const text = await answer.text();
    assert.ok(text.startsWith("A goose") && text.length > 20);
  } finally {
    server.kill();
  }
});
