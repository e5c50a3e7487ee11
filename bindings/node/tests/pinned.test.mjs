// Memory that devices transfer numbers to and from directly.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { Backend, Pinned, Tensor, errors } from "runcible";

const backend = await Backend.open("cpu");

async function opened(spec) {
  try {
    return await Backend.open(spec);
  } catch (error) {
    const { BackendUnavailableError, DeviceError } = errors;
    assert.ok(error instanceof BackendUnavailableError || error instanceof DeviceError, error);
    return undefined;
  }
}

for (const spec of ["cpu", "reference", "opencl", "vulkan"]) {
  test(`numbers go to ${spec} and back`, async (t) => {
    const device = await opened(spec);
    if (device === undefined) return t.skip("this machine has none");
    const before = device.usage.memory;
    const from = new Pinned(device, 4000);
    const to = new Pinned(device, 4000);
    assert.ok(device.usage.memory >= before + 8000);
    const numbers = new Float32Array(from.buffer);
    assert.equal(numbers.length, 1000);
    assert.ok(numbers.every((each) => each === 0));
    numbers.forEach((_, i) => (numbers[i] = i));
    const x = Tensor.from(numbers, [10, 100], device);
    numbers.fill(9); // the device has a copy
    const results = new Float32Array(to.buffer);
    assert.equal(x.neg().readInto(results), results);
    assert.ok(results.every((each, i) => each === -i));
    x.close();
    from.close();
    to.close();
    assert.deepEqual([numbers.length, results.length], [0, 0]);
  });
}

test("the memory cannot be used after it is closed", () => {
  const memory = new Pinned(backend, 16);
  const numbers = new Float32Array(memory.buffer);
  memory.close();
  memory.close();
  assert.equal(memory.closed, true);
  assert.throws(() => memory.buffer, errors.ClosedError);
  assert.equal(numbers[0], undefined);
  assert.throws(() => Tensor.from(numbers, [4], backend), errors.InvalidArgumentError);
  assert.throws(() => Tensor.borrow(numbers, [4], backend), errors.InvalidArgumentError);
  const x = Tensor.ones([4], backend);
  assert.throws(() => x.readInto(numbers), errors.InvalidArgumentError);
});

test("invalid arguments throw", () => {
  assert.throws(() => new Pinned(backend, 2 ** 52), (error) => {
    return error instanceof errors.OutOfMemoryError || error instanceof errors.DeviceMemoryError;
  });
  const x = Tensor.ones([4], backend);
  assert.throws(() => x.readInto(new Int32Array(4)), /f32 cannot be written/);
  assert.throws(() => x.readInto([1, 2, 3, 4]), TypeError);
  const half = Tensor.from([1, -2], [2], backend, { dtype: "f16" });
  assert.deepEqual([...half.readInto(new Uint16Array(2))], [0x3c00, 0xc000]);
  const memory = new Pinned(backend, 8);
  try {
    structuredClone(memory.buffer, { transfer: [memory.buffer] });
  } catch (error) {
    assert.equal(error.name, "DataCloneError");
  }
  assert.equal(memory.buffer.byteLength, 8);
});

test("memory is freed with the buffer that exposes it", () => {
  const program = `
    const { Backend, Pinned } = require("runcible");
    (async () => {
      const backend = await Backend.open("cpu");
      const arrays = [];
      for (let i = 0; i < 20; ++i) {
        const numbers = new Float32Array(new Pinned(backend, 1 << 20).buffer);
        if (i === 7) arrays.push(numbers.fill(7));
      }
      // A register may still hold the last one.
      for (let i = 0; i < 200 && backend.usage.memory > 3 << 20; ++i) {
        global.gc();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const { memory } = backend.usage;
      console.log(memory <= 3 << 20, memory >= 1 << 20, arrays[0].every((n) => n === 7));
    })();`;
  const output = execFileSync(process.execPath, ["--expose-gc", "-e", program], {
    encoding: "utf8",
  });
  assert.equal(output, "true true true\n");
});

test("a worker may end with pinned memory", async () => {
  const worker = new Worker(
    `const { Backend, Pinned, Tensor } = require("runcible");
     Backend.open("cpu").then((backend) => {
       const numbers = new Float32Array(new Pinned(backend, 4000).buffer).fill(1);
       globalThis.kept = [numbers, Tensor.borrow(numbers, [1000], backend)];
       require("node:worker_threads").parentPort.postMessage(kept[1].sum().toArray()[0]);
     });`,
    { eval: true },
  );
  const sum = await new Promise((resolve, reject) => {
    worker.on("message", resolve).on("error", reject);
  });
  assert.equal(sum, 1000);
  await worker.terminate();
});
