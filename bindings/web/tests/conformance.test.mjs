// Runs the cases of bindings/conformance/cases.json in a page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { launch, pageOf, site } from "./browser.mjs";

const cases = new URL("../../conformance/cases.json", import.meta.url);
const document = JSON.parse(readFileSync(cases, "utf8"));

/** What a page has not, and why. */
const missing = {
  "load a model from a hub": "a page fetches files by their URLs",
  "product of tensors": "a page computes with models alone",
};

const browser = await launch();
const { server, url } = await site(undefined, {
  "/converted/": process.env.CONVERTED,
});
after(async () => {
  await browser.close();
  server.close();
});
const page = await pageOf(await browser.newContext(), url);
await page.evaluate(async () => {
  window.conformance = await import("/conformance_page.mjs");
});

for (const [i, { name }] of document.cases.entries()) {
  test(name, { skip: missing[name] }, async () => {
    const failure = await page.evaluate((i) => window.conformance.run(i), i);
    assert.equal(failure, undefined);
  });
}
