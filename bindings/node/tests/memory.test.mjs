// Models from memory.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Model, errors } from "runcible";

const file = new URL(
  "../../../tests/golden/architectures/llama2.gguf",
  import.meta.url,
);

test("a model from bytes equals that of the file", async () => {
  const bytes = new Uint8Array(readFileSync(file));
  const loading = Model.fromBytes(bytes, { backend: "reference" });
  bytes.fill(0); // the model has its own copy by now
  const model = await loading;
  const same = await Model.load(file.pathname, { backend: "reference" });
  assert.deepEqual(model.report, same.report);
  assert.deepEqual(model.metadata, same.metadata);
});

test("failures name the memory", async () => {
  await assert.rejects(
    Model.fromBytes(new Uint8Array(4), { backend: "reference" }),
    (error) =>
      error instanceof errors.FormatError && /^memory: /.test(error.message),
  );
  await assert.rejects(
    Model.fromBytes(new Uint8Array(99), {
      backend: "reference",
      name: "weights.bin",
    }),
    /weights\.bin: /,
  );
});
