// Streams on Node's event loop: cancelling, deadlines, and concurrent work.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";

import { Model, errors } from "runcible";

const model = await Model.load("builtin:fable", { backend: "cpu" });

/** Returns a session and its generation, which never ends by itself. */
function endless(options) {
  const session = model.session({ whenFull: "shift" });
  return [session, session.stream("A", { ignoreEos: true, ...options })];
}

test("many streams share the loop", async () => {
  const options = (seed) => ({ seed, maxTokens: 20 });
  const together = await Promise.all(
    Array.from({ length: 16 }, (_, seed) =>
      model.session().generate("A", options(seed)),
    ),
  );
  assert.ok(new Set(together.map(({ text }) => text)).size > 8);
  // On a CPU, concurrent work changes no bit of a session's results.
  const alone = model.session().generateSync("A", options(3));
  assert.equal(alone.text, together[3].text);
  assert.deepEqual(alone.tokens, together[3].tokens);
});

test("the loop goes on during a stream", async () => {
  const [, stream] = endless();
  for (let turns = 0; turns < 5; ++turns) {
    assert.ok(!(await stream.next()).done);
    await setImmediate();
  }
  await stream.return();
});

test("leaving the loop ends the request", async () => {
  const [session, stream] = endless();
  for await (const piece of stream) {
    assert.equal(typeof piece.text, "string");
    break;
  }
  assert.equal(stream.report.reason, "cancelled");
  await session.append("B"); // no longer busy
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  await stream.return();
});

test("an exception in the body ends the request", async () => {
  const [session, stream] = endless();
  const mine = new Error("mine");
  await assert.rejects(async () => {
    for await (const _ of stream) throw mine;
  }, mine);
  await session.append("B");
});

test("cancel ends a stream", async () => {
  const [session, stream] = endless();
  setTimeout(5).then(() => stream.cancel());
  await assert.rejects(async () => {
    for await (const _ of stream);
  }, errors.CancelledError);
  stream.cancel();
  await session.append("B");
});

test("signals end streams", async () => {
  const timeout = AbortSignal.timeout(30);
  const [session, stream] = endless({ signal: timeout });
  await assert.rejects(
    async () => {
      for await (const _ of stream);
    },
    (error) => error === timeout.reason && error.name === "TimeoutError",
  );
  assert.equal(stream.report.reason, "cancelled");
  await session.append("B");
  const reason = new Error("no more");
  const signal = AbortSignal.abort(reason);
  assert.throws(() => session.stream("A", { signal }), reason);
  await assert.rejects(session.generate("A", { signal }), reason);
});

test("a signal after the end does nothing", async () => {
  const abort = new AbortController();
  const session = model.session();
  const options = { maxTokens: 2, signal: abort.signal };
  const { report } = await session.generate("A", options);
  abort.abort();
  await setImmediate();
  assert.equal(report.reason, "length");
});

test("a deadline ends a stream", async () => {
  const [, stream] = endless({ deadline: 50 });
  await assert.rejects(
    async () => {
      for await (const _ of stream);
    },
    (error) =>
      error.constructor === errors.DeadlineError &&
      error.report.reason === "deadline",
  );
  assert.ok((await stream.next()).done); // the error is thrown once
});

test("reads that are not awaited get their pieces in order", async () => {
  const stream = model.session().stream("A", { maxTokens: 3, ignoreEos: true });
  const reads = Array.from({ length: 8 }, () => stream.next());
  const results = await Promise.all(reads);
  const tokens = results.map(({ value }) => value?.tokens.length ?? 0);
  assert.equal(tokens.reduce((a, b) => a + b), 3);
  assert.ok(results.at(-1).done);
});

test("a busy session throws BusyError", async () => {
  const [session, stream] = endless();
  await assert.rejects(session.append("B"), errors.BusyError);
  await assert.rejects(session.tokens(), errors.BusyError);
  const second = session.stream("B", { maxTokens: 1 }); // waits for its turn
  await stream.return();
  await second.whole();
  const append = session.append("B");
  assert.throws(() => session.stream("B"), errors.BusyError);
  await append;
});

test("a thread generates without the loop", () => {
  const session = model.session({ whenFull: "shift" });
  const generation = session.streamSync("A", { ignoreEos: true });
  for (const piece of generation) {
    if (piece.text) break;
  }
  assert.equal(generation.report.reason, "cancelled");
  const late = session.streamSync("A", { ignoreEos: true, deadline: 20 });
  assert.throws(() => [...late], errors.DeadlineError);
  assert.deepEqual([...late], []);
});
