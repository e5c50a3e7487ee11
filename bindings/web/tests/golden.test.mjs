// Results of the backend cpu in a page: golden models, bitwise equal to those of this
// machine, and every op, compared with `reference`.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, test } from "node:test";

import { checkOps, isolation, launch, pageOf, site } from "./browser.mjs";

const { BITS, DIST } = process.env;

/** Tokens, if the model generates, and a hash, by the model's name. */
const native = {};
for (const line of readFileSync(BITS, "utf8").split("\n")) {
  const found = /^\S*\/(\S+)\.gguf((?: \d+)* [0-9a-f]{16})$/.exec(line);
  if (found !== null) native[found[1]] = found[2].trim();
}

const browser = await launch();
const servers = [];
const pages = {};
for (const [build, headers] of [["threads", isolation], ["one thread", {}]]) {
  const { server, url } = await site(headers);
  servers.push(server);
  pages[build] = await pageOf(await browser.newContext(), url);
  await pages[build].evaluate(async () => {
    window.golden = await import("/golden_page.mjs");
  });
}
after(async () => {
  await browser.close();
  for (const server of servers) server.close();
});

for (const [build, page] of Object.entries(pages)) {
  test(`golden models have the bits of this machine, ${build}`, async () => {
    assert.equal(
      await page.evaluate(() => crossOriginIsolated),
      build === "threads",
    );
    const models = Object.entries(native).map(([name, bits]) => ({
      name,
      embeds: !bits.includes(" "),
    }));
    assert.ok(models.length > 100, `${models.length} models`);
    const found = await page.evaluate((models) => golden.bits(models), models);
    assert.deepEqual(found, native);
  });
}

test("ops of simd128 compute what reference does", async () => {
  await checkOps(pages.threads, "cpu");
});

/** A package that was built without relaxed SIMD contains an empty module. */
const relaxed = "runcible/runcible-relaxed.wasm";
const skip = statSync(`${DIST}/${relaxed}`).size <= 8 && "the build has no level relaxed";

test("ops of relaxed compute what reference does", { skip }, async (context) => {
  const taken = await pages.threads.evaluate(
    (bytes) => WebAssembly.validate(Uint8Array.from(bytes)),
    [...readFileSync(`${DIST}/${relaxed}`)],
  );
  if (!taken) return context.skip("this browser has no relaxed SIMD");
  await checkOps(pages.threads, "cpu", `/runcible-web/${relaxed}`);
});
