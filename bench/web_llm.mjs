#!/usr/bin/env node
// Rates of runcible-web on the backend webgpu, and on cpu, beside those of
// @mlc-ai/web-llm in the same Chromium, with the same model, which web_llm.py has
// made in FOLDER:
//
//   npm install playwright-core @mlc-ai/web-llm@0.2.79     somewhere
//   NODE_PATH_OF=THAT_FOLDER bench/web_llm.mjs FOLDER [--tokens 3] [--threads 2]
//     [--prompt TEXT] [--package build/bindings/web/package/dist]
//     [--browser /usr/bin/chromium] [--software] [--only NAME]
//
// With --software WebGPU is SwiftShader's, which computes on processors: it takes
// web-llm minutes for a token.
import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";

import { isolation, serve } from "../examples/web/serve.mjs";

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tokens: { type: "string", default: "3" },
    threads: { type: "string", default: "2" },
    prompt: { type: "string", default: "Once upon a time there was a fox" },
    package: { type: "string", default: "build/bindings/web/package/dist" },
    browser: { type: "string", default: "/usr/bin/chromium" },
    software: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
const need = createRequire(resolve(process.env.NODE_PATH_OF ?? ".", "package.json"));
const { chromium } = need("playwright-core");
const server = await serve(
  {
    "/": resolve(import.meta.dirname ?? dirname(process.argv[1]), "web"),
    "/runcible-web/": resolve(given.package),
    "/web-llm/": dirname(need.resolve("@mlc-ai/web-llm")),
    "/model/": resolve(positionals[0]),
  },
  { headers: isolation },
);
const software = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const browser = await chromium.launch({
  executablePath: given.browser,
  args: ["--no-sandbox", ...(given.software ? software : [])],
});

/** Each in a page of its own, one after the other. */
const pages = {
  webgpu: ["runcible", { spec: "webgpu" }],
  cpu: ["runcible", { spec: "cpu" }],
  "web-llm": ["web_llm", {}],
};
const load = () => loadavg()[0].toFixed(1);
try {
  console.log(`load of the machine ${load()}`);
  for (const [name, [file, more]] of Object.entries(pages)) {
    if (given.only !== undefined && given.only !== name) continue;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://localhost:${server.address().port}/${file}.html`);
    const found = await page.evaluate((options) => window.measure(options), {
      file: "/model/model.gguf",
      prompt: given.prompt,
      threads: Number(given.threads),
      tokens: Number(given.tokens),
      ...more,
    });
    console.log(name, JSON.stringify(found));
    await context.close();
  }
  console.log(`load of the machine ${load()}`);
} finally {
  await browser.close();
  server.close();
}
