#!/usr/bin/env node
// Rates of runcible-web in a page, beside those of @wllama/wllama in the same
// browser on the same file, and the time from the load of a page to the first token
// of the model in the box:
//
//   npm install playwright-core @wllama/wllama     somewhere
//   NODE_PATH_OF=THAT_FOLDER bench/web.mjs MODEL.gguf [--threads 2] [--runs 3]
//     [--package build/bindings/web/package/dist] [--browser /usr/bin/chromium]
//
// Each run has pages of its own, the two one after the other; printed is the median
// of each rate, and the load of the machine before and after.
import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { parseArgs } from "node:util";

import { isolation, serve } from "../examples/web/serve.mjs";

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: "string", default: "2" },
    runs: { type: "string", default: "3" },
    tokens: { type: "string", default: "32" },
    package: { type: "string", default: "build/bindings/web/package/dist" },
    browser: { type: "string", default: "/usr/bin/chromium" },
  },
});
const model = positionals[0] && resolve(positionals[0]);
const threads = Number(given.threads);
const tokens = Number(given.tokens);
const need = createRequire(
  resolve(process.env.NODE_PATH_OF ?? ".", "package.json"),
);
const { chromium } = need("playwright-core");

/** Some 250 tokens. */
const prompt = "A spoon and a fork went down to the sea to see what it was. ".repeat(7);

const folders = {
  "/": resolve(import.meta.dirname ?? dirname(process.argv[1]), "web"),
  "/runcible-web/": resolve(given.package),
};
if (model) {
  folders["/model/"] = dirname(model);
  folders["/wllama/"] = dirname(need.resolve("@wllama/wllama"));
}
const server = await serve(folders, { headers: isolation });
const url = `http://localhost:${server.address().port}`;
const browser = await chromium.launch({
  executablePath: given.browser,
  args: ["--no-sandbox"],
});

/** What bench/web/NAME.html measures, in a page of its own. */
async function measured(name, options) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${url}/${name}.html`);
    return await page.evaluate((options) => window.measure(options), options);
  } finally {
    await context.close();
  }
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const load = () => loadavg()[0].toFixed(1);

try {
  console.log(`load of the machine ${load()}`);
  const runs = Number(given.runs);
  const first = [];
  for (let i = 0; i < runs; ++i) first.push(await measured("first", { threads }));
  console.log(
    "page load to the first token of the model in the box: " +
      `${Math.round(median(first))} ms (${first.map(Math.round).join(", ")})`,
  );
  if (model) {
    const file = `/model/${basename(model)}`;
    const found = { runcible: [], wllama: [] };
    for (let i = 0; i < runs; ++i) {
      for (const name of Object.keys(found)) {
        const options = { file, prompt, threads, tokens };
        found[name].push(await measured(name, options));
        console.log(name, JSON.stringify(found[name].at(-1)));
      }
    }
    for (const what of ["prompt", "decode", "load"]) {
      const [ours, theirs] = Object.values(found).map((list) =>
        median(list.map((each) => each[what])),
      );
      const times = what === "load" ? theirs / ours : ours / theirs;
      const unit = what === "load" ? "ms" : "tokens/s";
      console.log(
        `${what}: runcible-web ${ours.toFixed(1)}, wllama ${theirs.toFixed(1)} ` +
          `${unit}, ${times.toFixed(1)} times`,
      );
    }
  }
  console.log(`load of the machine ${load()}`);
} finally {
  await browser.close();
  server.close();
}
