// Graphs, and tensors over borrowed memory.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { Backend, CustomOp, Graph, Tensor, errors } from "runcible";

const backend = await Backend.open("cpu");
const tensor = (...numbers) => Tensor.from(numbers, [numbers.length], backend);

test("errors of graphs are reported", async () => {
  const x = tensor(1, 2);
  const mine = new Error("mine");
  await assert.rejects(Graph.record(backend, [x], () => { throw mine; }), mine);
  await assert.rejects(Graph.record(backend, [x], () => [1]), /an output must be a Tensor/);
  const graph = await Graph.record(backend, [x], (a) => a.neg());
  await assert.rejects(graph.run(x), TypeError);
  assert.throws(() => graph.runSync([1]), TypeError);
});

test("runs share the event loop, and end early", async () => {
  const endless = new CustomOp({
    name: "endless",
    signature: "x F32 [n] -> y F32 [n]",
    library: process.env.RUNCIBLE_CUSTOM_OP,
  });
  const x = tensor(1, 2);
  const long = await Graph.record(backend, [x], (y) => endless.compute([y])[0]);
  // Runs do not end before their limit.
  await assert.rejects(long.run([x], { deadline: 1.2 }), (error) => {
    return error instanceof errors.TimeoutError && / 2 ms/.test(error.message);
  });
  const controller = new AbortController();
  const run = long.run([x], { signal: controller.signal });
  let ticks = 0;
  const timer = setInterval(() => ++ticks === 3 && controller.abort(), 1);
  await assert.rejects(run, { name: "AbortError" });
  clearInterval(timer);
  assert.ok(ticks >= 3);
  await assert.rejects(long.run([x], { signal: AbortSignal.abort() }), { name: "AbortError" });
  const cancelled = long.run([x]);
  const cancelling = setInterval(() => long.cancel(), 1);
  await assert.rejects(cancelled, errors.CancelledError);
  clearInterval(cancelling);
});

test("a tensor borrows the memory of a typed array", () => {
  const numbers = Float32Array.of(9, 1, -2, 3, 9);
  const x = Tensor.borrow(numbers.subarray(1, 4), [3], backend);
  assert.deepEqual([...x.relu().toArray()], [1, 0, 3]);
  numbers[1] = -7; // the tensor sees the change
  assert.deepEqual([...x.relu().toArray()], [0, 0, 3]);
  tensor(1, 2, 3).into(x).neg(); // writes there
  assert.deepEqual([...numbers], [9, -1, -2, -3, 9]);
  const halves = Uint16Array.of(0x3c00, 0xc000);
  const half = Tensor.borrow(halves, [2], backend, { dtype: "f16" });
  assert.equal(half.dtype, "f16");
  assert.deepEqual([...half.toArray()], [1, -2]);
  const integers = Tensor.borrow(BigInt64Array.of(5n), [1], backend);
  assert.deepEqual([...integers.toArray()], [5n]);
  assert.equal(Tensor.borrow(new Float32Array(0), [0], backend).size, 0);
});

test("memory that cannot be borrowed is refused", async () => {
  const shared = new Float32Array(new SharedArrayBuffer(4));
  assert.throws(() => Tensor.borrow(shared, [1], backend), /Tensor\.from copies/);
  assert.throws(() => Tensor.borrow([1], [1], backend), TypeError);
  assert.throws(() => Tensor.borrow(new Uint8Array(4), [1], backend), TypeError);
  assert.throws(
    () => Tensor.borrow(new Float32Array(2), [3], backend),
    errors.InvalidArgumentError,
  );
  const lent = Float32Array.of(1, 2);
  const x = Tensor.borrow(lent, [2], backend);
  // Copied before Node 21, and refused from then on.
  try {
    structuredClone(lent, { transfer: [lent.buffer] });
  } catch (error) {
    assert.equal(error.name, "DataCloneError");
  }
  assert.equal(lent.length, 2);
  assert.deepEqual([...x.toArray()], [1, 2]);
});

test("borrowed memory is kept, and released", () => {
  const program = `
    const { Backend, Graph, Tensor } = require("runcible");
    (async () => {
      const backend = await Backend.open("cpu");
      const zero = Tensor.from([0, 0], [2], backend);
      let gone = 0;
      const registry = new FinalizationRegistry(() => ++gone);
      let graph;
      for (let i = 0; i < 20; ++i) {
        const numbers = new Float32Array(1 << 18).fill(i);
        registry.register(numbers.buffer, i);
        const x = Tensor.borrow(numbers, [1 << 18], backend);
        if (i === 7) graph = await Graph.record(backend, [x], (y) => y.add(x));
        x.close();
      }
      // A register may still hold the last one.
      for (let i = 0; i < 200 && gone < 18; ++i) {
        global.gc();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      // A constant of the graph is still there.
      const [y] = await graph.run([Tensor.ones([1 << 18], backend)]);
      console.log(gone === 18 || gone === 19, y.toArray().every((n) => n === 8));
    })();`;
  const output = execFileSync(process.execPath, ["--expose-gc", "-e", program], {
    encoding: "utf8",
  });
  assert.equal(output, "true true\n");
});

test("a worker may end with memory that it has lent", async () => {
  const worker = new Worker(
    `const { Backend, Tensor } = require("runcible");
     Backend.open("cpu").then((backend) => {
       globalThis.kept = Tensor.borrow(new Float32Array(1000).fill(1), [1000], backend);
       require("node:worker_threads").parentPort.postMessage(kept.sum().toArray()[0]);
     });`,
    { eval: true },
  );
  const sum = await new Promise((resolve, reject) => {
    worker.on("message", resolve).on("error", reject);
  });
  assert.equal(sum, 1000);
  await worker.terminate();
  await sleep(1);
});
