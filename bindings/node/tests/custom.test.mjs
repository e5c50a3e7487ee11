// Custom ops: JavaScript functions, C functions, and kernels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { Backend, CustomOp, Graph, Tensor, errors } from "runcible";

const x = [-4, -1, 0, 1, 3];
const softsign = {
  name: "softsign",
  signature: "x F32 [...] -> y F32 [...]",
  attributes: "scale float",
  openclC:
    "size_t i = get_global_id(0);\n" +
    "if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
  grid: "elements(x)",
};
const ofJs = {
  ...softsign,
  function: (from, to, { scale }) => {
    from.data.forEach((each, i) => (to.data[i] = each / (1 + Math.abs(each) * scale)));
  },
};
const ofC = { ...softsign, library: process.env.RUNCIBLE_CUSTOM_OP, items: "elements(x)" };
const kernel = { ...softsign };

function near(tensor, numbers, scale, positive = false) {
  const found = tensor.toArray();
  assert.equal(found.length, numbers.length);
  numbers.forEach((each, i) => {
    const wanted = each / (1 + Math.abs(each) * scale);
    assert.ok(Math.abs(found[i] - (positive ? Math.max(wanted, 0) : wanted)) < 1e-6);
  });
}

const cpu = Backend.openSync("cpu");
const tensor = (numbers, backend = cpu) => Tensor.from(numbers, [numbers.length], backend);

for (const [name, options] of Object.entries({ ofJs, ofC })) {
  test(`${name} computes, also in graphs`, async () => {
    const op = new CustomOp(options);
    for (const device of ["cpu", "reference", "opencl"]) {
      let backend;
      try {
        backend = Backend.openSync(device);
      } catch {
        continue;
      }
      near(op.compute([tensor(x, backend)], { scale: 0.5 })[0], x, 0.5);
    }
    const graph = await Graph.record(cpu, [tensor(x)], (given) =>
      op.compute([given.add(given)], { scale: 2 })[0].relu(),
    );
    const twice = x.map((each) => 2 * each);
    near((await graph.run([tensor(x)]))[0], twice, 2, true);
    near(graph.runSync([tensor(x)])[0], twice, 2, true);
    op.close();
    near((await graph.run([tensor(x)]))[0], twice, 2, true);
  });
}

test("a function may return a promise in a run that returns one", async () => {
  const op = new CustomOp({
    ...ofJs,
    function: async (...operands) => {
      await null;
      ofJs.function(...operands);
    },
  });
  const graph = await Graph.record(cpu, [tensor(x)], (given) =>
    op.compute([given], { scale: 1 }),
  );
  near((await graph.run([tensor(x)]))[0], x, 1);
  assert.throws(
    () => op.compute([tensor(x)], { scale: 1 }),
    (error) => error instanceof errors.BusyError && /promise/.test(error.message),
  );
});

test("several types and outputs, and ops within functions", () => {
  // The device of the op waits for the function.
  const other = Backend.openSync("reference");
  const inner = new CustomOp({
    signature: "x F64 [n] -> y F64 [n]",
    function: (from, to) => to.data.set(from.data.map((each) => each * 2)),
  });
  const op = new CustomOp({
    signature: "x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]",
    function: (left, weights, sums, negative) => {
      const doubled = inner.compute([tensor(weights.data.slice(), other)])[0].toArray();
      const [, n] = left.shape;
      sums.data.fill(0);
      left.data.forEach((each, i) => {
        sums.data[Math.floor(i / n)] += each * doubled[i % n];
        negative.data[i] = -each;
      });
    },
  });
  const [y, z] = op.compute([
    Tensor.from(Int32Array.of(1, 2, 3, 4, 5, 6), [3, 2], cpu),
    Tensor.from(Float64Array.of(10, 0.5), [2], cpu),
  ]);
  assert.deepEqual([...y.toArray()], [22, 64, 106]);
  assert.deepEqual([...z.toArray()], [-1, -2, -3, -4, -5, -6]);
});

test("invalid ops and failing functions throw", () => {
  const given = tensor(x);
  const fails = (changes, says, kind, inputs = [given], attributes = { scale: 1 }) =>
    assert.throws(
      () => new CustomOp({ ...softsign, ...changes }).compute(inputs, attributes),
      (error) => error instanceof kind && says.test(error.message),
    );
  let kept;
  fails({ function: () => { throw new Error("not mine"); } }, /not mine/, errors.DeviceError);
  fails(
    { function: () => { throw new errors.FormatError("bad"); } }, /bad/, errors.FormatError,
  );
  new CustomOp({ ...softsign, function: (from) => (kept = from.data) })
    .compute([given], { scale: 1 });
  assert.equal(kept.length, 0); // the library has taken its memory back
  fails({ library: "/no/such.so" }, /such/, errors.NotFoundError);
  fails({ ...ofC, signature: "x F32 [n]" }, /signature/, errors.InvalidArgumentError);
  fails({ openclC: undefined }, /neither a function nor a kernel/, errors.InvalidArgumentError);
  fails(kernel, /no function/, errors.UnsupportedError);
  fails({ function: 1 }, /must be a function/, TypeError);
  fails({ ...ofJs, items: "elements(x)" }, /items/, TypeError);
  fails(ofJs, /needs the attribute scale/, TypeError, [given], {});
  fails(ofJs, /no attribute size/, TypeError, [given], { scale: 1, size: 2 });
  fails(ofJs, /inputs/, errors.InvalidArgumentError, [given, given]);
  fails({ ...ofJs, nothing: 1 }, /no option/, TypeError);
});

test("a worker may end with ops", async () => {
  const worker = new Worker(
    `const { Backend, CustomOp, Tensor } = require("runcible");
     const op = new CustomOp({
       signature: "x F32 [n] -> y F32 [n]",
       function: (from, to) => to.data.set(from.data),
     });
     const x = Tensor.from([1, 2], [2], Backend.openSync("cpu"));
     require("node:worker_threads").parentPort.postMessage(op.compute([x])[0].toArray());`,
    { eval: true },
  );
  const found = await new Promise((resolve, reject) => {
    worker.on("message", resolve);
    worker.on("error", reject);
  });
  assert.deepEqual([...found], [1, 2]);
  await worker.terminate();
});
