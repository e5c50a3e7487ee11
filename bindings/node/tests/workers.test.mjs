// Worker threads: each has a separate environment and a separate loop.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { Model } from "runcible";

const options = { maxTokens: 20, seed: 3 };

/** Starts a worker that runs a program with `parentPort`, `Model` and `model`. */
function start(program) {
  const begin = `
    const { parentPort, threadId } = require("node:worker_threads");
    const { Model } = require("runcible");
    (async () => {
      const model = await Model.load("builtin:fable", { backend: "cpu" });
      const endless = () => model.session({ whenFull: "shift" })
        .stream("A", { ignoreEos: true });
      ${program}
    })();`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(`
    import { createRequire } from "node:module";
    const require = createRequire(${JSON.stringify(import.meta.url)});
    ${begin}`)}`);
  return new Worker(url);
}

const ended = async (worker) => (await once(worker, "exit"))[0];

test("workers generate at once", async () => {
  const model = await Model.load("builtin:fable", { backend: "cpu" });
  const expected = (await model.session().generate("A", options)).text;
  const workers = Array.from({ length: 4 }, () =>
    start(`
      const { text } = await model.session().generate("A", ${JSON.stringify(options)});
      parentPort.postMessage(text);`),
  );
  const texts = Promise.all(workers.map((worker) => once(worker, "message")));
  const codes = Promise.all(workers.map(ended));
  assert.deepEqual((await texts).flat(), new Array(4).fill(expected));
  assert.deepEqual(await codes, [0, 0, 0, 0]);
});

test("a worker may be terminated with requests in flight", async () => {
  for (let i = 0; i < 5; ++i) {
    const worker = start(`
      const streams = Array.from({ length: 8 }, endless);
      await streams[7].next();
      parentPort.postMessage("begun");
      for await (const _ of streams[0]);`);
    await once(worker, "message");
    assert.equal(await worker.terminate(), 1);
  }
});

test("a worker may exit with requests in flight", async () => {
  const worker = start(`
    const streams = Array.from({ length: 8 }, endless);
    await streams[7].next();
    process.exit(7);`);
  assert.equal(await ended(worker), 7);
});

test("a worker may fail with requests in flight", async () => {
  const worker = start(`
    const streams = Array.from({ length: 8 }, endless);
    await streams[7].next();
    throw new Error("mine");`);
  const [error] = await once(worker, "error");
  assert.equal(error.message, "mine");
});

test("a worker may be terminated while it loads, decodes and waits", async () => {
  for (let i = 0; i < 5; ++i) {
    const worker = start(`
      const session = model.session();
      await session.append("Once upon a time");
      parentPort.postMessage("begun");
      for (;;) {
        const load = Model.load("builtin:fable", { backend: "reference" });
        await Promise.all([load, session.decode(), session.fork()]);
      }`);
    await once(worker, "message");
    assert.equal(await worker.terminate(), 1);
  }
});

test("a worker may be terminated while it blocks", async () => {
  const worker = start(`
    const session = model.session({ whenFull: "shift" });
    const generation = session.streamSync("A", { ignoreEos: true });
    generation.next();
    parentPort.postMessage("begun");
    for (const _ of generation);`);
  await once(worker, "message");
  assert.equal(await worker.terminate(), 1);
});

test("workers may start and end repeatedly", async () => {
  for (let i = 0; i < 10; ++i) {
    const workers = Array.from({ length: 3 }, () =>
      start(`const stream = endless(); await stream.next(); await stream.return();`),
    );
    assert.deepEqual(await Promise.all(workers.map(ended)), [0, 0, 0]);
  }
});
