// Models from a hub, which a server on loopback simulates.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  Model,
  cachedModels,
  errors,
  fetchModel,
  removeCachedModel,
} from "runcible";

const commit = "c".repeat(40);
const content = Buffer.alloc(20000, "GGUF and more");
const folder = mkdtempSync(join(tmpdir(), "runcible-"));

function answer(request, response) {
  if (request.url === "/api/models/o/m/revision/main?blobs=true") {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const lfs = { sha256, size: content.length, pointerSize: 130 };
    const siblings = [{ rfilename: "m.gguf", lfs }];
    response.end(JSON.stringify({ sha: commit, siblings }));
  } else if (request.url === `/o/m/resolve/${commit}/m.gguf`) {
    const [first, last] = request.headers.range.match(/\d+/g).map(Number);
    response.statusCode = 206;
    response.setHeader(
      "Content-Range",
      `bytes ${first}-${last}/${content.length}`,
    );
    response.end(content.subarray(first, last + 1));
  } else {
    response.statusCode = 404;
    response.end();
  }
}

const server = createServer(answer);
before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env.HF_ENDPOINT = `http://127.0.0.1:${server.address().port}`;
  process.env.HF_HOME = folder;
});
after(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

test("fetched models are listed and removed", async () => {
  const path = await fetchModel("hf:o/m");
  assert.equal(
    path,
    join(folder, "hub/models--o--m/snapshots", commit, "m.gguf"),
  );
  assert.deepEqual(readFileSync(path), content);
  const { models } = await cachedModels();
  assert.equal(models[0].name, "hf:o/m");
  assert.equal(models[0].bytes, content.length);
  assert.deepEqual(models[0].revisions[0].names, ["main"]);
  await removeCachedModel("hf:o/m");
  assert.deepEqual((await cachedModels()).models, []);
});

test("failures of fetching are reported", async () => {
  await assert.rejects(fetchModel("hf:o/none"), errors.NotFoundError);
  await assert.rejects(fetchModel("m.gguf"), errors.InvalidArgumentError);
  await assert.rejects(Model.load("hf:o/m"), /fetch it first/);
  // It is fetched, and is not a model.
  await assert.rejects(Model.fromHub("o/m"), errors.FormatError);
});
