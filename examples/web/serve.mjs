#!/usr/bin/env node
// Serves the page, with the headers that give it SharedArrayBuffer:
//
//   node examples/web/serve.mjs [--port 8080] [--package FOLDER]
//
// --package is the folder dist of runcible-web, by default that of
// bindings/web/run.sh. Any other server of static files does as well if it sends the
// headers of `isolation`.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const types = {
  ".css": "text/css",
  ".gguf": "application/octet-stream",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".wgsl": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
};

/** The headers that isolate a page, so that it has SharedArrayBuffer. */
export const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** Returns the requested bytes, [first, last]; undefined if none exist. */
function rangeOf(header, size) {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (found === null || found[1] + found[2] === "") return [0, size - 1];
  const [first, last] =
    found[1] === ""
      ? [Math.max(0, size - Number(found[2])), size - 1]
      : [Number(found[1]), Math.min(size - 1, Number(found[2] || size - 1))];
  return first <= last ? [first, last] : undefined;
}

/** Returns the file of a path by the longest matching prefix in `folders`. */
function fileOf(folders, path) {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const prefix = prefixes.find((each) => path.startsWith(each));
  if (prefix === undefined) return undefined;
  const rest = normalize(`/${path.slice(prefix.length)}`);
  return join(folders[prefix], rest.endsWith("/") ? `${rest}index.html` : rest);
}

async function answer(folders, headers, request, response) {
  const { pathname } = new URL(request.url, "http://localhost");
  const file = fileOf(folders, decodeURIComponent(pathname));
  const found = file && (await stat(file).catch(() => undefined));
  if (!found?.isFile() || !["GET", "HEAD"].includes(request.method)) {
    response.writeHead(found ? 405 : 404, headers).end();
    return;
  }
  const etag = `"${found.size}-${found.mtimeMs}"`;
  const given = {
    ...headers,
    "Accept-Ranges": "bytes",
    "Cache-Control": "no-cache",
    "Content-Type": types[extname(file)] ?? "application/octet-stream",
    ETag: etag,
  };
  if (request.headers["if-none-match"] === etag) {
    response.writeHead(304, given).end();
    return;
  }
  const condition = request.headers["if-range"];
  const wanted =
    condition === undefined || condition === etag
      ? request.headers.range
      : undefined;
  const range = rangeOf(wanted, found.size);
  if (range === undefined && found.size > 0) {
    response
      .writeHead(416, { ...given, "Content-Range": `bytes */${found.size}` })
      .end();
    return;
  }
  const [first, last] = range ?? [0, -1];
  given["Content-Length"] = last - first + 1;
  if (wanted !== undefined) {
    given["Content-Range"] = `bytes ${first}-${last}/${found.size}`;
  }
  response.writeHead(wanted === undefined ? 200 : 206, given);
  if (request.method === "HEAD" || last < first) response.end();
  else createReadStream(file, { start: first, end: last }).pipe(response);
}

/** Serves folders on a port of this machine; 0: any. Returns the server. */
export async function serve(folders, { port = 0, headers = isolation } = {}) {
  const server = createServer((request, response) => {
    answer(folders, headers, request, response).catch(() => response.destroy());
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return server;
}

const here = fileURLToPath(new URL(".", import.meta.url));

/** The folders of the page; see above. */
export const foldersOf = (
  dist = join(here, "../../build/bindings/web/package/dist"),
) => ({ "/": here, "/runcible-web/": dist });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8080" },
      package: { type: "string" },
    },
  });
  const folders = foldersOf(values.package);
  const server = await serve(folders, { port: Number(values.port) });
  console.log(`http://localhost:${server.address().port}/`);
}
