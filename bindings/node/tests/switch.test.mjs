// Switches of the device of a backend that do not succeed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Backend, Model } from "runcible";

test("a signal ends a switch", async () => {
  const backend = await Backend.open("reference");
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
