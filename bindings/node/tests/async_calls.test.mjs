// Starting work on the event loop does not block it, whatever the model does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { Model } from "runcible";

// Tries of each call, at least one of which other programs do not interrupt.
const tries = 6;
// In milliseconds; most of them are JavaScript's own part.
const longest = 5;

/** Returns the first piece of a stream and leaves the stream. */
async function pieceOf(stream) {
  for await (const piece of stream) return piece;
  return undefined;
}

test("starting answers and streams does not block the loop during long steps", async () => {
  const model = await Model.load("builtin:fabulist", { backend: "reference" });
  // Prompts whose steps each take a large part of a second.
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
