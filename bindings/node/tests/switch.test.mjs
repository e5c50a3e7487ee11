// A backend that switches its device: models move, sessions go on.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Backend, Model, errors } from "runcible";

const greedy = { maxTokens: 8, temperature: 0, ignoreEos: true };

test("a text goes on after a switch, and the loop meanwhile", async () => {
  const backend = await Backend.open("cpu");
  const model = await Model.load("builtin:fable", { backend, contextLength: 128 });
  const session = model.session();
  const there = await Model.load("builtin:fable", {
    backend: await Backend.open("reference"),
    contextLength: 128,
  });
  await session.generate("The fox", greedy);
  const moved = await session.migrate(there);
  const expected = (await moved.generate("", greedy)).text;
  await backend.switch("reference", { wait: 60000 });
  assert.equal(backend.device.id, "reference:0");
  assert.equal((await session.generate("", greedy)).text, expected);
  await assert.rejects(backend.switch("nothing"), errors.NotFoundError);
  await assert.rejects(
    backend.switch("cpu", { signal: AbortSignal.abort(new Error("not now")) }),
    /not now/,
  );
  assert.equal(backend.device.id, "reference:0");
});

test("an exception of progress is the failure of the call", async () => {
  const progress = () => {
    throw new Error("enough");
  };
  await assert.rejects(Backend.open("cpu", { progress }), /enough/);
  await assert.rejects(Model.load("builtin:fable", { progress }), /enough/);
  const backend = await Backend.open("cpu");
  await assert.rejects(backend.switch("reference", { progress }), /enough/);
});
