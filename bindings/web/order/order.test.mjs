import assert from "node:assert/strict";
import { test } from "node:test";

import { functionsOf, reordered } from "./functions.mjs";
import { orderOf } from "./similar.mjs";

const section = (id, ...bytes) => [id, bytes.length, ...bytes];
const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const [I32, END] = [0x7f, 0x0b];
const body = (...code) => [code.length + 2, 0, ...code, END];

/** Three functions after an imported one, which refer to each other. */
const module = Uint8Array.from([
  ...header,
  // () -> i32; (i32) -> i32
  ...section(1, 2, 0x60, 0, 1, I32, 0x60, 1, I32, 1, I32),
  ...section(2, 1, 1, 0x6d, 1, 0x66, 0, 0), // m.f
  ...section(3, 3, 0, 0, 1),
  ...section(4, 1, 0x70, 0, 2),
  // 82, whose first byte as an instruction would name a function; and the second one
  ...section(6, 2, I32, 0, 0x41, 0xd2, 0, END, 0x70, 0, 0xd2, 2, END),
  ...section(7, 4, 1, 0x61, 0, 1, 1, 0x62, 0, 3, 1, 0x63, 3, 0, 1, 0x64, 3, 1), // a: 1, b: 3
  ...section(9, 1, 0, 0x41, 0, END, 2, 2, 1),
  ...section(
    10,
    3,
    // a: f() + b(20)
    ...body(0x10, 0, 0x41, 20, 0x10, 3, 0x6a),
    // 0x10, which as an instruction would be a call, as a number
    ...body(0x41, 0x10),
    // b: x + the first of the table
    ...body(0x20, 0, 0x41, 0, 0x11, 0, 0, 0x6a),
  ),
]);

function run(bytes) {
  const imports = { m: { f: () => 100 } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
  return [exports.a(), exports.b(1), exports.c.value, exports.d.value()];
}

test("a reordered module computes the same", () => {
  assert.deepEqual(run(module), [136, 17, 82, 16]);
  assert.deepEqual(reordered(module, [0, 1, 2]), Buffer.from(module));
  for (const order of [
    [2, 1, 0],
    [1, 2, 0],
    [2, 0, 1],
  ]) {
    const made = reordered(module, order);
    assert.notDeepEqual(made, Buffer.from(module));
    assert.deepEqual(run(made), [136, 17, 82, 16]);
  }
});

test("a reordered function changes only the numbers that it refers to", () => {
  const before = functionsOf(module);
  const after = functionsOf(reordered(module, [2, 1, 0]));
  assert.deepEqual([...after[1]], [...before[1]]);
  assert.deepEqual([...after[2]], [0, 0x10, 0, 0x41, 20, 0x10, 1, 0x6a, END]);
});

test("unknown content is refused", () => {
  const refused = (bytes, reason) =>
    assert.throws(() => reordered(Uint8Array.from(bytes), [0]), reason);
  const one = [...header, ...section(1, 1, 0x60, 0, 0), ...section(3, 1, 0)];
  refused([...one, ...section(10, 1, ...body(0xfb, 0))], /no instruction 0xfb/);
  refused([...one, ...section(10, 1, 9, 0)], /breaks off/);
  const names = [4, 0x6e, 0x61, 0x6d, 0x65];
  refused([...one, ...section(10, 1, ...body()), ...section(0, ...names)], /names/);
  refused([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0], /not a WebAssembly module/);
  assert.throws(() => reordered(module, [0, 1, 1]), /each function once/);
});

test("similar texts are placed near each other", () => {
  const random = (seed) => {
    const bytes = new Uint8Array(12000);
    for (let i = 0, x = seed; i < bytes.length; ++i) {
      x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
      bytes[i] = x >>> 24;
    }
    return bytes;
  };
  const variant = (text) => text.map((byte, i) => (i % 100 === 7 ? 0 : byte));
  const [a, b, c] = [random(1), random(2), random(3)];
  const texts = [a, b, c, variant(b), variant(c), variant(a)];
  const order = orderOf(texts);
  assert.deepEqual(order, [0, 5, 1, 3, 2, 4]);
  assert.deepEqual(orderOf(texts, 2).slice(0, 2), [0, 1]);
  assert.deepEqual(orderOf(texts, 100), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(orderOf([]), []);
});
