// Sources of models: URLs with progress, sums and ranges, the cache, files.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, test } from "node:test";

import { isolation, launch, pageOf, site } from "./browser.mjs";

const bytes = readFileSync(
  new URL("../../../examples/chat_model/fabulist.gguf", import.meta.url),
);
const sum = createHash("sha256").update(bytes).digest("hex");

/** A server of models whose connections break as a test requests. */
const asked = [];
const served = new Map();
const models = createServer((request, response) => {
  const { range } = request.headers;
  const found = served.get(request.url);
  asked.push([request.url, range]);
  const headers = { ...isolation, "Access-Control-Allow-Origin": "*" };
  headers["Access-Control-Allow-Headers"] = "range, if-range";
  headers["Access-Control-Expose-Headers"] = "etag, content-range";
  headers["Cross-Origin-Resource-Policy"] = "cross-origin";
  if (request.method === "OPTIONS") {
    response.writeHead(204, headers).end();
    return;
  }
  if (found === undefined) {
    response.writeHead(404, headers).end();
    return;
  }
  const { content, etag, breaks } = found;
  const same = request.headers["if-range"] === etag;
  const from = range && same ? Number(/\d+/.exec(range)[0]) : 0;
  headers.ETag = etag;
  headers["Content-Length"] = content.length - from;
  headers["Content-Range"] = `bytes ${from}-${content.length - 1}/${content.length}`;
  response.writeHead(from > 0 ? 206 : 200, headers);
  const at = breaks?.shift();
  if (at === undefined) {
    response.end(content.subarray(from));
  } else {
    response.write(content.subarray(from, at), () =>
      setTimeout(() => response.destroy(), 50),
    );
  }
});
await new Promise((resolve) => models.listen(0, "127.0.0.1", resolve));
const base = `http://localhost:${models.address().port}`;

const browser = await launch();
const { server, url } = await site();
after(async () => {
  await browser.close();
  server.close();
  models.closeAllConnections();
  models.close();
});
const page = await pageOf(await browser.newContext(), url);
await page.evaluate(() => {
  /** Loads a model; returns its name, or the error, with the course of the load. */
  window.load = async (source, options = {}) => {
    const fractions = [];
    const stages = new Set();
    const progress = (fraction, { stage }) => {
      fractions.push(fraction);
      stages.add(stage);
    };
    try {
      const given = { backend: "cpu", progress, ...options };
      const model = await runcible.Model.load(source, given);
      const { name } = await model.report();
      model.close();
      return { name, fractions, stages: [...stages] };
    } catch (error) {
      const { name, message } = error;
      return { error: name, message };
    }
  };
});
const load = (source, options) =>
  page.evaluate(([source, options]) => load(source, options), [source, options]);
const cached = () => page.evaluate(() => runcible.cachedModels());

test("a URL is fetched with progress, and then cached", async () => {
  served.set("/a.gguf", { content: bytes, etag: '"a"' });
  const first = await load(`${base}/a.gguf`, { sha256: sum });
  assert.equal(first.name, "fabulist", first.message);
  assert.deepEqual(first.stages, ["fetch", "load"]);
  assert.deepEqual(first.fractions, first.fractions.toSorted((a, b) => a - b));
  assert.equal(first.fractions.at(-1), 1);
  const count = asked.length;
  const again = await load(`${base}/a.gguf`, { sha256: sum });
  assert.equal(again.name, "fabulist");
  assert.equal(asked.length, count);
  const [known] = await cached();
  assert.deepEqual(known, {
    url: `${base}/a.gguf`,
    bytes: bytes.length,
    total: bytes.length,
    complete: true,
    sha256: sum,
  });
});

test("a broken download is resumed, at once and later", async () => {
  served.set("/b.gguf", {
    content: bytes,
    etag: '"b"',
    breaks: [900000, 1700000],
  });
  const whole = await load(`${base}/b.gguf`, { sha256: sum });
  assert.equal(whole.name, "fabulist", whole.message);
  const gets = asked.filter(([path, range]) => path === "/b.gguf" && range);
  assert.equal(gets.length >= 2, true, JSON.stringify(asked));
  served.set("/c.gguf", { content: bytes, etag: '"c"', breaks: [400000, 0, 0] });
  // The second try delivers nothing, so the download is abandoned.
  const broken = await load(`${base}/c.gguf`, { sha256: sum });
  assert.equal(broken.error, "FileError");
  assert.match(broken.message, /c\.gguf.*loading it again goes on/);
  const part = (await cached()).find((each) => each.url.endsWith("/c.gguf"));
  assert.equal(part.complete, false);
  assert.ok(part.bytes > 0 && part.bytes <= 400000);
  served.get("/c.gguf").breaks = undefined;
  const later = await load(`${base}/c.gguf`, { sha256: sum });
  assert.equal(later.name, "fabulist", later.message);
  assert.equal(asked.at(-1)[1], `bytes=${part.bytes}-`);
});

test("a part of another file is not resumed", async () => {
  const other = Buffer.from(bytes);
  other[5000] ^= 1;
  served.set("/d.gguf", { content: other, etag: '"old"', breaks: [500000, 0] });
  assert.equal((await load(`${base}/d.gguf`)).error, "FileError");
  served.set("/d.gguf", { content: bytes, etag: '"new"' });
  const found = await load(`${base}/d.gguf`, { sha256: sum });
  assert.equal(found.name, "fabulist", found.message);
});

test("a file with another sum is an error and is not kept", async () => {
  served.set("/e.gguf", { content: bytes, etag: '"e"' });
  const wanted = "0".repeat(64);
  for (const cache of [true, false]) {
    const found = await load(`${base}/e.gguf`, { sha256: wanted, cache });
    assert.equal(found.error, "FormatError");
    assert.match(found.message, new RegExp(`e\\.gguf.*${sum}.*${wanted}`));
  }
  assert.ok(!(await cached()).some((each) => each.url.endsWith("/e.gguf")));
  const kept = await load(`${base}/e.gguf`, {});
  assert.equal(kept.name, "fabulist");
  // A sum that is given later is checked against the cached file.
  const count = asked.length;
  assert.equal((await load(`${base}/e.gguf`, { sha256: sum })).name, "fabulist");
  assert.equal(asked.length, count);
  const short = await load(`${base}/e.gguf`, { sha256: "12" });
  assert.equal(short.error, "InvalidArgumentError");
});

test("a missing file and a missing server are reported", async () => {
  const missing = await load(`${base}/none.gguf`);
  assert.equal(missing.error, "NotFoundError");
  assert.match(missing.message, /none\.gguf.*404/);
  const refused = await load("http://localhost:9/m.gguf");
  assert.equal(refused.error, "FileError");
  assert.match(refused.message, /network.*CORS/);
});

test("a model is removed from the cache", async () => {
  const before = await cached();
  await page.evaluate((url) => runcible.removeCachedModel(url), `${base}/a.gguf`);
  assert.equal((await cached()).length, before.length - 1);
  const error = await page.evaluate(
    (url) => runcible.removeCachedModel(url).catch(({ name }) => name),
    `${base}/a.gguf`,
  );
  assert.equal(error, "NotFoundError");
});

test("a signal ends fetching, and so does an exception of progress", async () => {
  served.set("/slow.gguf", { content: bytes, etag: '"s"', breaks: [1000] });
  const found = await page.evaluate(async (url) => {
    const controller = new AbortController();
    const ends = [
      () => controller.abort(new Error("enough")),
      () => {
        throw new Error("too much");
      },
    ];
    const messages = [];
    for (const progress of ends) {
      const loading = runcible.Model.load(url, {
        signal: messages.length === 0 ? controller.signal : undefined,
        progress,
      });
      messages.push(await loading.catch(({ message }) => message));
    }
    return messages;
  }, `${base}/slow.gguf`);
  assert.deepEqual(found, ["enough", "too much"]);
});

test("a model in parts loads by its first URL and from files", async () => {
  const parts = [1, 2, 3].map((i) => `tensors-0000${i}-of-00003.gguf`);
  const fetched = await load(`/golden/parts/${parts[0]}`);
  assert.ok(fetched.name !== undefined, fetched.message);
  assert.equal((await cached()).filter((x) => x.url.includes("parts")).length, 3);
  const named = await page.evaluate(async (parts) => {
    const files = parts.map(async (name) => {
      const response = await fetch(`/golden/parts/${name}`);
      return new File([await response.blob()], name);
    });
    const all = await Promise.all(files);
    return [await load(all.reverse()), await load(all.slice(0, 2))];
  }, parts);
  assert.equal(named[0].name, fetched.name);
  assert.notEqual(named[1].error, undefined);
});

test("a File, a Blob and bytes load", async () => {
  served.set("/f.gguf", { content: bytes, etag: '"f"' });
  const names = await page.evaluate(async (url) => {
    const buffer = await (await fetch(url)).arrayBuffer();
    const sources = [
      new File([buffer], "chat.gguf"),
      new Blob([buffer]),
      buffer,
      new Uint8Array(buffer),
    ];
    const found = [];
    for (const source of sources) found.push((await load(source)).name);
    return found;
  }, `${base}/f.gguf`);
  assert.deepEqual(names, new Array(4).fill("fabulist"));
  const bad = await page.evaluate(() => load(new File(["none"], "bad.gguf")));
  assert.equal(bad.error, "FormatError");
  assert.match(bad.message, /bad\.gguf/);
});

test("two loads of one URL fetch it once", async () => {
  served.set("/g.gguf", { content: bytes, etag: '"g"' });
  const found = await page.evaluate(
    (url) => Promise.all([load(url), load(url)]),
    `${base}/g.gguf`,
  );
  assert.deepEqual(
    found.map(({ name }) => name),
    ["fabulist", "fabulist"],
  );
  const gets = asked.filter(([path]) => path === "/g.gguf");
  assert.equal(gets.length, 1);
});
