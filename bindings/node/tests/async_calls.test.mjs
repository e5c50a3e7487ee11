// What is begun on the event loop does not hold it up, whatever the model does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { Model } from "runcible";

// Tries of each call, of which one at least is not interrupted by other programs.
const tries = 6;
// Milliseconds; JavaScript's own part is the most of them.
const longest = 5;

/** The first piece of a stream that is left then. */
async function pieceOf(stream) {
  for await (const piece of stream) return piece;
  return undefined;
}

test("the loop goes on while steps are long", async () => {
  const model = await Model.load("builtin:fabulist", { backend: "reference" });
  // Prompts whose steps take a large part of a second each.
  const text = "a fox and a crow; ".repeat(120);
  const controller = new AbortController();
  let left = 0;
  const running = Array.from({ length: 12 }, async () => {
    ++left;
    const session = model.session();
    const { signal } = controller;
    await pieceOf(session.stream(text, { maxTokens: 1, signal }));
    --left;
  });
  await setTimeout(50);
  const kept = { answer: [], generate: [] };
  const tasks = [];
  const time = (name, begin) => {
    const begun = performance.now();
    tasks.push(pieceOf(begin()));
    kept[name].push(performance.now() - begun);
  };
  for (let i = 0; i < tries; ++i) {
    const chat = model.session().chat();
    chat.add({ role: "user", content: "a fox and a crow; ".repeat(60) });
    time("answer", () => chat.answer({ maxTokens: 1 }));
    const session = model.session();
    time("generate", () => session.stream("a fox", { maxTokens: 1 }));
  }
  assert.ok(left > 0, "all steps were over before the calls began");
  for (const [name, times] of Object.entries(kept)) {
    assert.ok(Math.min(...times) < longest, `${name}: ${times}`);
  }
  controller.abort();
  await Promise.allSettled([...running, ...tasks]);
});
