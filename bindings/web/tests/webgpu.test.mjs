// The backend webgpu: on SwiftShader in Chromium, next to cpu in the same tab.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { checkOps, isChromium, whyNoWebgpu, launch, pageOf, site } from "./browser.mjs";

// WEBGPU_ALL=1 runs all of them, which takes about 12 minutes.
const all = process.env.WEBGPU_ALL === "1";
const golden = new URL("../../../tests/golden/architectures/", import.meta.url);
const browser = await launch({ webgpu: true });
const { server, url } = await site(undefined, {
  "/architectures/": fileURLToPath(golden),
});
const single = await site({});
after(async () => {
  await browser.close();
  server.close();
  single.server.close();
});
const page = await pageOf(await browser.newContext(), url);
const skip =
  (await whyNoWebgpu(page)) ||
  (!isChromium && "in Firefox one thread computes, and webgpu takes several");

await page.evaluate(() => {
  window.failureOf = (work) =>
    work.then(() => undefined, ({ name, message }) => ({ name, message }));
  /**
   * Returns the logits of all rows of some tokens. For a model that reads a source first,
   * the library itself adds the first token after the source.
   */
  window.logitsOf = async (model, tokens, source) => {
    const session = model.session();
    const rows = [];
    for (const given of source ? [source, tokens.slice(1)] : [tokens]) {
      await session.append(given);
      await session.decode({ allLogits: true });
      rows.push(...(await session.logits()).data);
    }
    session.close();
    return rows;
  };
  /** Returns the largest difference relative to the largest number. */
  window.difference = (found, expected) => {
    if (found.length !== expected.length) return Infinity;
    let most = 0;
    let largest = 0;
    expected.forEach((number, i) => {
      const apart = Math.abs(found[i] - number);
      most = Math.max(most, Number.isNaN(apart) ? Infinity : apart);
      largest = Math.max(largest, Math.abs(number));
    });
    return most / largest;
  };
});

test("is listed as software, with the device that computes", { skip }, async () => {
  const { devices, automatic } = await page.evaluate(() => runcible.discover());
  const found = devices.find(({ backend }) => backend === "webgpu");
  assert.equal(found.id, "webgpu:0");
  assert.match(found.name, /swiftshader/i);
  assert.equal(found.kind, "software");
  assert.match(found.driver, /^WebGPU, Chrome [\d.]+$/);
  assert.equal(automatic, "cpu:0");
});

test("its kernels are fetched when it is opened", { skip }, async () => {
  const fetched = [];
  page.context().on("request", (request) => fetched.push(request.url()));
  await page.evaluate(async () => {
    window.cpu = await runcible.Model.load("builtin:fable", { backend: "cpu" });
  });
  assert.deepEqual(fetched.filter((each) => each.endsWith(".wgsl")), []);
  await page.evaluate(async () => {
    window.gpu = await runcible.Model.load("builtin:fable", { backend: "webgpu" });
  });
  assert.match(await page.evaluate(async () => (await gpu.report()).device), /^webgpu:0/);
});

test("its text is that of cpu, which computes at the same time", { skip }, async () => {
  const texts = await page.evaluate(() => {
    const options = { temperature: 0, maxTokens: 8 };
    const text = async (model, prompt) =>
      (await model.session().generate(prompt, options)).text;
    return Promise.all(
      ["A fox", "Once there was a crow"].flatMap((prompt) => [
        text(cpu, prompt),
        text(gpu, prompt),
      ]),
    );
  });
  assert.ok(texts[0].length > 10);
  assert.equal(texts[1], texts[0]);
  assert.equal(texts[3], texts[2]);
});

// A page gets no rows of encoders except those of complete texts.
const some = ["llama2", "gpt2", "mixtral", "t5"];
const someEncoders = ["bert"];
const cases = readdirSync(golden)
  .filter((name) => name.endsWith(".logits.f32"))
  .map((file) => {
    const name = file.slice(0, -".logits.f32".length);
    const text = readFileSync(new URL(`${name}.json`, golden), "utf8");
    const { tokens, runs = [{ tokens }], width } = JSON.parse(text);
    return { name, runs, isEncoder: width !== undefined };
  })
  .filter(({ name }) => all || some.includes(name) || someEncoders.includes(name));

test("its logits are those of transformers", { skip }, async () => {
  const apart = await page.evaluate(
    async (cases) => {
      const found = {};
      for (const { name, runs } of cases) {
        const model = await runcible.Model.load(`/architectures/${name}.gguf`, {
          backend: "webgpu",
          cacheDtype: "f32",
          cache: false,
        });
        const rows = [];
        for (const { tokens, source } of runs) {
          rows.push(...(await logitsOf(model, tokens, source)));
        }
        const response = await fetch(`/architectures/${name}.logits.f32`);
        const expected = new Float32Array(await response.arrayBuffer());
        found[name] = difference(rows, expected);
        model.close();
      }
      return found;
    },
    cases.filter(({ isEncoder }) => !isEncoder),
  );
  assert.ok(Object.keys(apart).length >= (all ? 100 : some.length));
  for (const [name, most] of Object.entries(apart)) {
    assert.ok(most < 1e-4, `${name}: ${most}`);
  }
});

test("its embeddings are those of reference", { skip }, async () => {
  const apart = await page.evaluate(
    async (names) => {
      const texts = ["A fox", "went out in search of grapes, and came home."];
      const found = {};
      for (const name of names) {
        const rows = [];
        for (const backend of ["webgpu", "reference"]) {
          const model = await runcible.Model.load(`/architectures/${name}.gguf`, {
            backend,
            cache: false,
          });
          rows.push((await model.embed(texts)).flatMap((row) => [...row]));
          model.close();
        }
        found[name] = difference(...rows);
      }
      return found;
    },
    cases.filter(({ isEncoder }) => isEncoder).map(({ name }) => name),
  );
  assert.ok(Object.keys(apart).length >= (all ? 8 : someEncoders.length));
  for (const [name, most] of Object.entries(apart)) {
    assert.ok(most < 1e-4, `${name}: ${most}`);
  }
});

test("a conversation goes on there and back", { skip }, async () => {
  const texts = await page.evaluate(async () => {
    const options = { temperature: 0, maxTokens: 4 };
    const whole = cpu.session();
    const moved = cpu.session();
    const texts = [[], []];
    for (const [i, session] of [whole, moved].entries()) {
      texts[i].push((await session.generate("A wolf", options)).text);
    }
    let there = await moved.migrate(gpu);
    texts[0].push((await whole.generate("", options)).text);
    texts[1].push((await there.generate("", options)).text);
    there = await there.migrate(cpu);
    texts[0].push((await whole.generate("", options)).text);
    texts[1].push((await there.generate("", options)).text);
    return texts;
  });
  assert.equal(texts[0].length, 3);
  assert.deepEqual(texts[1], texts[0]);
});

const skipOps = skip || (!all && "WEBGPU_ALL=1 tests every op");
test("its ops compute what reference does", { skip: skipOps }, async () => {
  await checkOps(page, "webgpu");
});

test("a lost device is reported, and opens again", { skip }, async () => {
  await page.evaluate(async () => {
    window.loaded = () =>
      runcible.Model.load("/architectures/llama2.gguf", {
        backend: "webgpu",
        cache: false,
      });
    window.losing = await loaded();
    window.before = await logitsOf(losing, [1, 5, 9]);
  });
  // Ends the process that has the device.
  const developer = await browser.newBrowserCDPSession();
  await developer.send("Browser.crashGpuProcess");
  const { failure, apart } = await page.evaluate(async () => {
    const failure = await failureOf(logitsOf(losing, [1, 5, 9]));
    const again = await loaded();
    return { failure, apart: difference(await logitsOf(again, [1, 5, 9]), before) };
  });
  assert.equal(failure.name, "DeviceLostError");
  assert.match(failure.message, /webgpu:0.*open it again/);
  assert.equal(apart, 0);
});

test("without threads it is listed with the reason", async () => {
  const alone = await pageOf(await browser.newContext(), single.url);
  const { message, devices } = await alone.evaluate(async () => {
    const { devices } = await runcible.discover();
    const opened = runcible.Backend.open("webgpu");
    return { devices, message: await opened.catch((error) => error.message) };
  });
  const reason = /needs a thread .* a build with threads: .* COOP and COEP/;
  const found = devices.find(({ backend }) => backend === "webgpu");
  assert.match(found.reason, reason);
  assert.ok(found.index < 0);
  assert.match(message, reason);
});
