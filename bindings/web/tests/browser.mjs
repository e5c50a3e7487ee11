// A browser, a server, and pages that have the package as `runcible`.
//
// Reads from the environment: BROWSER (chromium or firefox), BROWSER_PROGRAM, its path,
// and DIST, the folder dist of the package.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { chromium, firefox } from "playwright-core";

import { isolation, serve } from "../../../examples/web/serve.mjs";

export { isolation };

const { BROWSER = "chromium", BROWSER_PROGRAM, DIST } = process.env;
const folder = (path) => fileURLToPath(new URL(path, import.meta.url));

export const isChromium = BROWSER === "chromium";

/** WebGPU of Chromium by SwiftShader, which computes on processors. */
const software = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** Starts a browser; the port of a debugger distinguishes it from the user's. */
export function launch({ webgpu = false } = {}) {
  return isChromium
    ? chromium.launch({
        executablePath: BROWSER_PROGRAM,
        args: ["--no-sandbox", ...(webgpu ? software : ["--disable-gpu"])],
      })
    : firefox.launch({ channel: "moz-firefox", executablePath: BROWSER_PROGRAM });
}

/** Serves the package, the tests and the models; with other headers if given. */
export async function site(headers = isolation, more = {}) {
  const server = await serve(
    {
      "/": folder("."),
      "/runcible-web/": DIST,
      "/conformance/": folder("../../conformance"),
      "/golden/": folder("../../../tests/golden"),
      ...more,
    },
    { headers },
  );
  return { server, url: `http://localhost:${server.address().port}` };
}

/** Returns why a page has no WebGPU; false if it has. */
export async function whyNoWebgpu(page) {
  const adapter = await page.evaluate(async () =>
    Boolean(await navigator.gpu?.requestAdapter()),
  );
  return adapter ? false : "this browser offers no adapter of WebGPU";
}

/** Opens a page that has the package; `context` belongs to a browser. */
export async function pageOf(context, url) {
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error("page:", error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      console.error("page:", message.text());
    }
  });
  await page.goto(`${url}/page.html`);
  await page.waitForFunction(() => window.runcible !== undefined);
  return page;
}

/**
 * Runs the library's own test of a device, every op with every type, in a page with
 * threads; with the products of `relaxed` if their URL is given.
 */
export async function checkOps(page, spec, relaxed) {
  const { report, error } = await page.evaluate(
    (given) =>
      new Promise((resolve) => {
        const worker = new Worker("/device_worker.mjs", { type: "module" });
        worker.onmessage = ({ data }) => {
          worker.terminate();
          resolve(data);
        };
        worker.onerror = ({ message }) => resolve({ error: message });
        worker.postMessage(given);
      }),
    { spec, relaxed },
  );
  assert.equal(error, undefined);
  const [{ failure, tests }] = report.devices;
  assert.equal(failure, null);
  const of = (wanted) => tests.filter(({ outcome }) => outcome === wanted);
  assert.deepEqual(of("failed"), []);
  assert.ok(of("passed").length > 400, `${of("passed").length} passed`);
}
