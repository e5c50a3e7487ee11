// Runs the cases of bindings/conformance/cases.json in an isolated page, with the build
// that has threads, and in one that is not isolated, with the other build.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { isolation, launch, pageOf, site } from "./browser.mjs";

const cases = new URL("../../conformance/cases.json", import.meta.url);
const document = JSON.parse(readFileSync(cases, "utf8"));

/** Cases that a page does not support, and why. */
const missing = {
  "load a model from a hub": "a page fetches files by their URLs",
  "devices and plans": "a page loads what fits, and says so",
  "metadata and tokenizers": "a page has the tokenizers of models alone",
  tenants: "a page belongs to one party",
  "product of tensors": "a page computes with models alone",
  "ops of tensors": "a page computes with models alone",
  "ops with options": "a page computes with models alone",
  "wrong tensors": "a page computes with models alone",
  "wrong types": "package.test.mjs has the errors of a page",
  "wrong values": "package.test.mjs has the errors of a page",
  "closed objects": "package.test.mjs closes objects of a page",
  "generations that are left": "a page has streams alone",
  "objects closed in any order": "package.test.mjs closes objects of a page",
  "bits of graphs": "a page computes with models alone",
  "embedding rows": "a page computes with models alone",
  graphs: "a page computes with models alone",
  "custom ops": "a page computes with models alone",
  "pinned memory": "a page computes with models alone",
  "change the device of a backend": "backends of a page stay on their devices",
};

const browser = await launch();
const servers = [];
const pages = [];
for (const headers of [isolation, {}]) {
  const { server, url } = await site(headers, {
    "/converted/": process.env.CONVERTED,
  });
  servers.push(server);
  const page = await pageOf(await browser.newContext(), url);
  await page.evaluate(async () => {
    window.conformance = await import("/conformance_page.mjs");
  });
  pages.push(page);
}
after(async () => {
  await browser.close();
  for (const server of servers) server.close();
});

for (const [build, page] of [["threads", pages[0]], ["one thread", pages[1]]]) {
  for (const [i, { name }] of document.cases.entries()) {
    test(`${name}, ${build}`, { skip: missing[name] }, async () => {
      const isolated = await page.evaluate(() => crossOriginIsolated);
      assert.equal(isolated, build === "threads");
      const failure = await page.evaluate((i) => window.conformance.run(i), i);
      assert.equal(failure, undefined);
    });
  }
}
