// The page of examples/web: loads, chats, continues on another backend, takes a file,
// and works without a network.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { foldersOf, serve } from "../../../examples/web/serve.mjs";
import { isChromium, whyNoWebgpu, launch } from "./browser.mjs";

const modelFile = fileURLToPath(
  new URL("../../../examples/chat_model/fabulist.gguf", import.meta.url),
);
const { SCREENSHOTS } = process.env;

let browser, server, page, url, folders;
const wrong = [];

before(async () => {
  browser = await launch({ webgpu: true });
  folders = foldersOf(process.env.DIST);
  server = await serve(folders);
  url = `http://localhost:${server.address().port}/`;
  const context = await browser.newContext({ colorScheme: "light" });
  page = await context.newPage();
  page.on("pageerror", (error) => wrong.push(error.message));
  // In a Firefox under automation, service workers answer nothing; otherwise they do.
  if (!isChromium) {
    await page.addInitScript(() => delete Navigator.prototype.serviceWorker);
  }
  await page.addInitScript(() => {
    window.longest = 0;
    if (!PerformanceObserver.supportedEntryTypes.includes("longtask")) return;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        window.longest = Math.max(window.longest, duration);
      }
    }).observe({ type: "longtask" });
  });
  await page.goto(url);
});
after(async () => {
  await browser.close();
  server.close();
});

/** Waits until a fact of the page is true; Firefox does not report selectors. */
const until = (fact, given) =>
  page.waitForFunction(fact, given, { timeout: 120000, polling: 50 });
const isIdle = () => until(() => !document.getElementById("send").disabled);

async function screenshot(name) {
  if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
}

async function ask(text) {
  const before = await page.locator("article").count();
  await page.fill("#say", text);
  await page.press("#say", "Enter");
  await until(
    (count) => document.querySelectorAll("article").length === count,
    before + 2,
  );
  await isIdle();
  return page.locator("article.assistant").last().textContent();
}

test("loads the model of the package", async () => {
  await isIdle();
  assert.match(await page.textContent("#model"), /fabulist.*cpu:0/);
  assert.equal(await page.isVisible("#error"), false);
  await screenshot("loaded");
});

test("chats, while the page stays responsive", async () => {
  // The minimum of several: any task is long on a machine that does other work.
  const longest = [];
  for (const text of ["Tell me a fable.", "Tell me another.", "And one more."]) {
    await page.evaluate(() => (window.longest = 0));
    assert.match(await ask(text), /[A-Z].{10}/s);
    longest.push(await page.evaluate(() => window.longest));
  }
  assert.ok(Math.min(...longest) < 50, `tasks of ${longest} ms`);
  assert.match(await ask("And the moral?"), /[A-Z].{10}/s);
  assert.match(await page.textContent("#rate"), /^\d+ tokens\/s, prompt \d+/);
  await screenshot("chat");
});

/** Continues the conversation on another backend. */
async function move(backend) {
  await page.selectOption("#backend", backend);
  await until(
    (device) => document.getElementById("model").textContent.includes(device),
    `${backend}:0`,
  );
  await isIdle();
}

test("the conversation continues on another backend", async () => {
  const said = await page.locator("article").count();
  await move("reference");
  assert.equal(await page.locator("article").count(), said);
  assert.match(await ask("Thank you."), /\w/);
  await move("cpu");
});

test("the conversation continues on webgpu", async (context) => {
  const reason = await whyNoWebgpu(page);
  if (reason) return context.skip(reason);
  const said = await page.locator("article").count();
  await move("webgpu");
  assert.equal(await page.locator("article").count(), said);
  // Checks only its beginning: a processor in place of a GPU is slow.
  await page.fill("#say", "Tell me a fable.");
  await page.press("#say", "Enter");
  await until(
    () => document.querySelector("article:last-child").textContent.length > 10,
  );
  await screenshot("webgpu");
  await page.keyboard.press("Escape");
  await isIdle();
  assert.equal(await page.isVisible("#error"), false);
  await move("cpu");
  assert.match(await ask("Thank you."), /\w/);
});

test("a stopped answer keeps its text so far", async () => {
  await page.fill("#say", "Tell me a fable.");
  await page.press("#say", "Enter");
  await until(
    () => document.querySelector("article:last-child").textContent.length > 10,
  );
  await page.keyboard.press("Escape");
  await isIdle();
  assert.equal(await page.isVisible("#error"), false);
  assert.match(await ask("And the moral?"), /\w/);
});

test("takes a file, and reports one that is not a model", async () => {
  await page.setInputFiles("#file", {
    name: "none.gguf",
    mimeType: "application/octet-stream",
    buffer: Buffer.from("no model at all"),
  });
  await until(() => !document.getElementById("error").hidden);
  assert.match(await page.textContent("#error"), /^none\.gguf/);
  assert.match(await page.textContent("#model"), /fabulist/);
  await isIdle();
  await screenshot("error");
  await page.setInputFiles("#file", modelFile);
  await until(() => document.getElementById("error").hidden);
  await until(() => !document.querySelector("article"));
  await isIdle();
  assert.match(await ask("Hello!"), /\w/);
});

test("every control has a name", async () => {
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll("button, input, select, textarea, progress")]
      .filter(
        (each) =>
          !each.labels?.length &&
          !each.getAttribute("aria-label") &&
          !(each.tagName === "BUTTON" && each.textContent.trim()),
      )
      .map((each) => each.outerHTML),
  );
  assert.deepEqual(unnamed, []);
});

test("is dark if the system is", { skip: !isChromium }, async () => {
  const lightness = () =>
    page.evaluate(() => {
      const color = getComputedStyle(document.body).backgroundColor;
      return color.match(/\d+/g).slice(0, 3).reduce((sum, n) => sum + +n, 0);
    });
  assert.ok((await lightness()) > 600);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.ok((await lightness()) < 200);
  await screenshot("dark");
});

test("works without a network", { skip: !isChromium }, async () => {
  await until(() => navigator.serviceWorker.controller !== null);
  await until(
    () => document.getElementById("offline").textContent !== "",
  );
  // The server has ended, so neither the page nor workers have a network.
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await page.reload();
  await isIdle();
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.match(await ask("Tell me a fable."), /[A-Z].{80}/s);
  await screenshot("offline");
});

test("all exceptions were caught", () => {
  assert.deepEqual(wrong, []);
});
