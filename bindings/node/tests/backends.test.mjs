// Backends made of JavaScript objects: models, failures, blocking calls, the end.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

import {
  Backend,
  Model,
  Tensor,
  discover,
  errors,
  registerBackend,
  unregisterBackend,
} from "runcible";
import { OwnBackend } from "../examples/own_backend.mjs";

const example = fileURLToPath(new URL("../examples/own_backend.mjs", import.meta.url));
const prompt = "Once upon a time";
const greedy = { maxTokens: 30, temperature: 0 };

async function modelOn(spec) {
  return Model.load("builtin:fable", { backend: await Backend.open(spec) });
}

async function textOn(spec, options = greedy) {
  return (await (await modelOn(spec)).session().generate(prompt, options)).text;
}

const expected = await textOn("reference");

/** Registers a backend while `use` runs. */
async function using(name, backend, use) {
  registerBackend(name, backend);
  try {
    return await use(backend);
  } finally {
    unregisterBackend(name);
  }
}

test("a model computes three ops in JavaScript, and the loop goes on", async () => {
  const backend = new OwnBackend();
  const called = new Set();
  for (const op of Object.keys(backend.capabilities)) {
    const function_ = OwnBackend.prototype[op];
    backend[op] = function (...given) {
      called.add(op);
      return function_.apply(this, given);
    };
  }
  await using("own", backend, async () => {
    let ticks = 0;
    const timer = setInterval(() => ++ticks, 1);
    assert.equal(await textOn("own,cpu"), expected);
    clearInterval(timer);
    assert.ok(ticks > 10, String(ticks));
  });
  assert.ok(called.has("rms_norm") && called.has("linear"), [...called].join());
});

test("functions may return promises", async () => {
  class Later extends OwnBackend {
    async rms_norm(...given) {
      await after(1);
      super.rms_norm(...given);
    }
    async health() {
      await after(1);
      return "well, later";
    }
  }
  await using("later", new Later(), async () => {
    const found = (await discover()).devices.find((each) => each.backend === "later");
    assert.equal(found.driver, "well, later");
    const few = { ...greedy, maxTokens: 6 };
    assert.equal(await textOn("later,cpu", few), await textOn("reference", few));
  });
});

test("a general function receives the op, its operands and its parameters", async () => {
  const own = new OwnBackend();
  const calls = [];
  const forgotten = new Set();
  const backend = {
    capabilities: { rms_norm: ["f32"], linear: ["f32"] },
    compute(call) {
      calls.push({ ...call, weight: call.inputs[1].weight });
      own[call.op](...call.inputs, ...call.outputs, call.params);
    },
    forget: (weight) => forgotten.add(weight),
  };
  await using("general", backend, async () => {
    const model = await modelOn("general,cpu");
    const session = model.session();
    await session.generate(prompt, { maxTokens: 2 });
    session.close();
    model.close();
    for (let i = 0; i < 100 && forgotten.size < 9; ++i) await after(20);
  });
  // Its linear is for f32, and the weights are q8_0.
  assert.deepEqual([...new Set(calls.map((call) => call.op))], ["rms_norm"]);
  const [{ params, inputs, outputs }] = calls;
  assert.ok(Math.abs(params.epsilon - 1e-5) < 1e-9);
  assert.equal(inputs[0].dtype, "f32");
  assert.deepEqual(inputs[0].shape, outputs[0].shape);
  const weights = new Set(calls.map((call) => call.weight));
  assert.equal(weights.size, 9);
  for (const weight of weights) assert.ok(weight > 0 && forgotten.has(weight));
  // Operands that are kept are empty.
  assert.equal(inputs[0].data.length, 0);
  assert.equal(outputs[0].data.length, 0);
});

test("the health is reported as driver, or as the reason", async () => {
  const backend = new OwnBackend();
  await using("own", backend, async () => {
    const report = async () =>
      (await discover()).devices.find((each) => each.backend === "own");
    assert.equal((await report()).driver, `Node ${process.versions.node}`);
    assert.equal((await report()).features, "add rms_norm linear");
    assert.equal((await report()).description, "three ops in JavaScript");
    backend.health = () => {
      throw new Error("the cable is out");
    };
    assert.match((await report()).reason, /the cable is out/);
    await assert.rejects(Backend.open("own"), (error) => {
      assert.ok(error instanceof errors.BackendUnavailableError);
      return /the cable is out/.test(error.message);
    });
    backend.health = async () => false;
    assert.match((await report()).reason, /not well/);
    assert.equal((await Backend.open("own,cpu")).device.id, "cpu:0");
  });
});

test("exceptions of functions are failures of ops", async () => {
  for (const fail of [
    () => {
      throw new RangeError("no roots today");
    },
    () => Promise.reject(new RangeError("no roots today")),
  ]) {
    const backend = new OwnBackend();
    await using("own", backend, async () => {
      const model = await modelOn("own,cpu");
      const good = backend.rms_norm;
      let left = 20;
      backend.rms_norm = function (...given) {
        return --left < 0 ? fail() : good.apply(this, given);
      };
      await assert.rejects(model.session().generate(prompt, { maxTokens: 100 }), (error) => {
        assert.ok(error instanceof errors.DeviceError, String(error));
        assert.match(error.message, /RMS_NORM: RangeError: no roots today/);
        return /backends\.test\.mjs/.test(error.message);
      });
      backend.rms_norm = good;
      assert.equal((await model.session().generate(prompt, greedy)).text, expected);
    });
  }
});

/** Adds tensors. */
class Sums {
  capabilities = { binary: ["f32"] };
  calls = 0;
  binary(a, b, out, { function: which }) {
    assert.equal(which, "add");
    ++this.calls;
    for (let i = 0; i < out.data.length; ++i) out.data[i] = a.data[i] + b.data[i];
  }
}

const sum = (backend) => {
  const x = Tensor.from([1, 2], [2], backend);
  return [...x.add(x).toArray()];
};

test("blocking calls compute ops or report what to do", async () => {
  const backend = new Sums();
  await using("sums", backend, async () => {
    const handle = await Backend.open("sums,cpu");
    // The calling thread computes tensors, or another thread that needs this one does:
    // the outcome is a result, or a failure that states what to do.
    try {
      assert.deepEqual(sum(handle), [2, 4]);
      assert.ok(backend.calls > 0);
    } catch (error) {
      assert.ok(error instanceof errors.BusyError, String(error));
      assert.match(error.message, /blocking call/);
    }
    backend.binary = async () => {};
    assert.throws(() => sum(handle), (error) => {
      assert.ok(error instanceof errors.BusyError, String(error));
      return /promise/.test(error.message);
    });
  });
  const own = new OwnBackend();
  await using("own", own, async () => {
    const begin = performance.now();
    // The health check runs on another thread than the one that waits.
    try {
      Backend.openSync("own").close();
    } catch (error) {
      assert.ok(error instanceof errors.BackendUnavailableError, String(error));
      assert.match(error.message, /blocking call/);
    }
    assert.ok(performance.now() - begin < 60000);
    // Afterwards the backend works.
    assert.equal(await textOn("own,cpu"), expected);
    // Generating that blocks computes ops between its waits.
    const model = await modelOn("own,cpu");
    assert.equal(model.session().generateSync(prompt, greedy).text, expected);
    let text = "";
    for (const piece of model.session().streamSync(prompt, greedy)) text += piece;
    assert.equal(text, expected);
    const good = own.rms_norm;
    own.rms_norm = async () => {};
    assert.throws(
      () => model.session().generateSync(prompt, greedy),
      (error) => error instanceof errors.BusyError && /promise/.test(error.message),
    );
    own.rms_norm = good;
    assert.equal(model.session().generateSync(prompt, greedy).text, expected);
  });
});

test("registering an invalid backend throws", () => {
  const good = new Sums();
  for (const [name, backend, kind] of [
    ["cpu", good, errors.InvalidArgumentError],
    ["Big", good, errors.InvalidArgumentError],
    ["", good, errors.InvalidArgumentError],
    [7, good, TypeError],
    ["a", null, TypeError],
    ["a", {}, TypeError],
    ["a", { capabilities: { add: ["f32"] } }, TypeError],
    ["a", { capabilities: { add: "f32" }, compute() {} }, TypeError],
    ["a", { capabilities: { add: ["f7"] }, compute() {} }, TypeError],
    ["a", { capabilities: { sum: ["f32"] }, compute() {} }, RangeError],
  ]) {
    assert.throws(() => registerBackend(name, backend), kind, String(name));
  }
  assert.throws(() => unregisterBackend("a"), errors.NotFoundError);
  assert.throws(() => unregisterBackend("cpu"), errors.NotFoundError);
  assert.throws(() => unregisterBackend(7), TypeError);
});

test("open handles continue to work when their backend is unregistered", async () => {
  registerBackend("own", new OwnBackend());
  assert.throws(() => registerBackend("own", new OwnBackend()), errors.InvalidArgumentError);
  const model = await modelOn("own,cpu");
  unregisterBackend("own");
  await assert.rejects(Backend.open("own"), errors.NotFoundError);
  await using("own", new OwnBackend(), async () => {
    const texts = await Promise.all([
      model.session().generate(prompt, greedy),
      (await modelOn("own,cpu")).session().generate(prompt, greedy),
    ]);
    assert.deepEqual(texts.map((each) => each.text), [expected, expected]);
  });
});

test("closing works while ops are computed", async () => {
  await using("own", new OwnBackend(), async () => {
    const took = [];
    for (let i = 0; i < 5; ++i) {
      const model = await modelOn("own,cpu");
      const session = model.session({ whenFull: "shift" });
      const stream = session.stream("A", { ignoreEos: true });
      await stream.next();
      const begin = performance.now();
      session.close();
      model.close();
      took.push(performance.now() - begin);
      // The stream goes on until it is left.
      assert.equal((await stream.next()).done, false);
      await stream.return();
    }
    // No thread waits for one that is waiting, which would take two seconds each
    // time; a busy machine is slow now and then.
    assert.ok(Math.min(...took) < 1900, `${took} ms`);
  });
});

test("workers have separate backends, which end with them", async () => {
  const worker = new Worker(
    new URL(`data:text/javascript,${encodeURIComponent(`
      import { createRequire } from "node:module";
      import { parentPort } from "node:worker_threads";
      const require = createRequire(${JSON.stringify(import.meta.url)});
      const { Backend, Model, registerBackend } = require("runcible");
      const { OwnBackend } = await import(${JSON.stringify(
        new URL("../examples/own_backend.mjs", import.meta.url).href,
      )});
      registerBackend("worker", new OwnBackend());
      const backend = await Backend.open("worker,cpu");
      const model = await Model.load("builtin:fable", { backend });
      const { text } = await model.session().generate(
        ${JSON.stringify(prompt)}, ${JSON.stringify(greedy)});
      parentPort.postMessage(text);
      const endless = model.session({ whenFull: "shift" }).stream("A", { ignoreEos: true });
      for await (const piece of endless) parentPort.postMessage("more");
    `)}`),
  );
  assert.deepEqual(await once(worker, "message"), [expected]);
  assert.deepEqual(await once(worker, "message"), ["more"]);
  await worker.terminate();
  await assert.rejects(Backend.open("worker"), (error) => error instanceof errors.RuncibleError);
});

test("a program ends while ops are computed", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", `
      import { Backend, Model, registerBackend } from "runcible";
      import { OwnBackend } from ${JSON.stringify(example)};
      registerBackend("own", new OwnBackend());
      const backend = await Backend.open("own,cpu");
      const model = await Model.load("builtin:fable", { backend });
      const endless = model.session({ whenFull: "shift" }).stream("A", { ignoreEos: true });
      await endless.next();
      console.log("done");
      process.exit();`],
    { cwd: fileURLToPath(new URL(".", import.meta.url)), timeout: 6000000 },
  );
  assert.deepEqual([stdout, stderr], ["done\n", ""]);
});

test("an unused backend keeps no program from ending", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", `
      import { registerBackend } from "runcible";
      registerBackend("own", { capabilities: { add: ["f32"] }, add() {} });
      console.log("done");`],
    { cwd: fileURLToPath(new URL(".", import.meta.url)), timeout: 600000 },
  );
  assert.equal(stdout, "done\n");
});

test("the example runs", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example, "A", "fox"], {
    timeout: 6000000,
  });
  assert.ok(stdout.startsWith("A fox") && stdout.length > 50, stdout);
});
