// The package in a page: texts, conversations, ends, errors.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, test } from "node:test";

import { isolation, launch, pageOf, site } from "./browser.mjs";

const native = readFileSync(process.env.NATIVE, "utf8");
const browser = await launch();
const { server, url } = await site();
after(async () => {
  await browser.close();
  server.close();
});
const context = await browser.newContext();
const page = await pageOf(context, url);
await page.evaluate(async () => {
  window.failureOf = async (work) => {
    try {
      await work();
    } catch (error) {
      const { name, status, code, message } = error;
      const known = error instanceof runcible.RuncibleError;
      const reason = error.report?.reason;
      return { name, status, code, message, known, reason };
    }
    return undefined;
  };
  window.fable = await runcible.Model.load("builtin:fable", { backend: "cpu" });
  window.fabulist = await runcible.Model.load("builtin:fabulist");
});

test("the text equals that of this machine", async () => {
  const text = await page.evaluate(async () => {
    const options = { temperature: 0, maxTokens: 120 };
    return (await fable.session().generate("A fox", options)).text;
  });
  assert.equal(text.trim(), native.trim());
});

test("pieces arrive one after the other, with tokens and a report", async () => {
  const { pieces, tokens, report, listed } = await page.evaluate(async () => {
    const session = fable.session();
    const stream = session.stream("A crow", { maxTokens: 20, logprobs: 2 });
    const pieces = [];
    for await (const piece of stream) pieces.push(piece);
    const listed = pieces.flatMap((piece) => piece.topLogprobs);
    const tokens = pieces.flatMap((piece) => [...piece.tokens]);
    const { seed, ...report } = stream.report;
    return { pieces: pieces.length, tokens, report, listed, seed: typeof seed };
  });
  assert.ok(pieces > 5);
  assert.equal(report.generatedTokens, tokens.length);
  assert.equal(report.reason, "length");
  assert.ok(report.generateUs > 0);
  assert.equal(listed.length, tokens.length);
  assert.ok(listed.every((two) => two.length === 2 && two[0].logprob <= 0));
});

test("a conversation calls a tool", async () => {
  const { fable, call, after, messages } = await page.evaluate(async () => {
    const tools = [
      {
        type: "function",
        function: {
          name: "add",
          description: "Adds two numbers",
          parameters: {
            type: "object",
            required: ["a", "b"],
            properties: { a: { type: "integer" }, b: { type: "integer" } },
          },
        },
      },
    ];
    const greedy = { temperature: 0 };
    const reply = await fabulist.session().chat().ask("Tell me a fable.", greedy);
    const chat = fabulist.session().chat({ tools });
    const { toolCalls, report } = await chat.ask("What is 2 and 3?", {
      ...greedy,
      toolChoice: "required",
    });
    const [call] = toolCalls;
    await chat.add({ role: "tool", tool_call_id: call.id, content: "5" });
    const after = await chat.ask(undefined, greedy);
    return {
      fable: reply.text,
      call: { name: call.name, given: call.arguments, reason: report.reason },
      after: after.text,
      messages: (await chat.messages()).map(({ role }) => role),
    };
  });
  assert.ok(fable.length > 40);
  assert.equal(call.name, "add");
  assert.equal(call.reason, "tool calls");
  assert.deepEqual(Object.keys(call.given).sort(), ["a", "b"]);
  assert.ok(after.length > 0);
  assert.deepEqual(messages, ["user", "assistant", "tool", "assistant"]);
});

test("a schema gives JSON", async () => {
  const text = await page.evaluate(async () => {
    const grammar = await runcible.Grammar.jsonSchema(fable, {
      type: "object",
      required: ["name", "age"],
      additionalProperties: false,
      properties: {
        name: { enum: ["Fox", "Crow"] },
        age: { type: "integer", minimum: 1, maximum: 9 },
      },
    });
    return (await fable.session().generate("A", { grammar })).text;
  });
  const { name, age } = JSON.parse(text);
  assert.ok(["Fox", "Crow"].includes(name));
  assert.ok(age >= 1 && age <= 9);
});

test("a signal ends a generation, and the session goes on", async () => {
  const { reason, same, more } = await page.evaluate(async () => {
    const controller = new AbortController();
    const why = new Error("enough");
    const session = fable.session();
    const { signal } = controller;
    let caught;
    try {
      for await (const _ of session.stream("A", { signal, ignoreEos: true })) {
        controller.abort(why);
      }
    } catch (error) {
      caught = error;
    }
    const stream = session.stream(" and", { maxTokens: 400, ignoreEos: true });
    for await (const _ of stream) break;
    const more = await session.generate(" then", { maxTokens: 3 });
    return {
      same: caught === why,
      reason: stream.report.reason,
      more: more.report.generatedTokens,
    };
  });
  assert.ok(same);
  assert.equal(reason, "cancelled");
  assert.equal(more, 3);
});

test("errors have the classes of Node's, and state what to do", async () => {
  const found = await page.evaluate(async () => {
    const { Backend, Grammar, Model } = runcible;
    const session = fable.session();
    const closed = fable.session();
    closed.close();
    const ended = fable.session().chat();
    return {
      backend: await failureOf(() => Backend.open("vulkan")),
      builtin: await failureOf(() => Model.load("builtin:none")),
      format: await failureOf(() => Model.load(new Uint8Array(99))),
      topP: await failureOf(() => session.generate("A", { topP: 7 })),
      whole: await failureOf(() => session.generate("A", { topK: 0.5 })),
      option: await failureOf(() => session.generate("A", { topq: 1 })),
      type: await failureOf(() => session.generate("A", { topK: "1" })),
      deadline: await failureOf(() =>
        session.generate("A", { deadline: 20, ignoreEos: true }),
      ),
      full: await failureOf(() => session.append(new Int32Array(9999).fill(5))),
      closed: await failureOf(() => closed.generate("A")),
      template: await failureOf(() => ended.ask("Hello")),
      grammar: await failureOf(() => Grammar.regex(fable, "(a")),
      source: await failureOf(() => Model.load("ftp://localhost/m.gguf")),
    };
  });
  const expect = (name, kind, message) => {
    assert.equal(found[name]?.name, kind, `${name}: ${found[name]?.message}`);
    assert.match(found[name].message, message);
  };
  expect("backend", "NotFoundError", /vulkan/);
  expect("builtin", "NotFoundError", /none/);
  expect("format", "FormatError", /memory\.gguf/);
  expect("topP", "InvalidArgumentError", /topP.*7/);
  expect("whole", "RangeError", /topK.*0\.5/);
  expect("option", "TypeError", /topq/);
  expect("type", "TypeError", /topK.*"1"/);
  expect("deadline", "DeadlineError", /./);
  assert.equal(found.deadline.reason, "deadline");
  assert.equal(found.deadline.code, "ETIMEDOUT");
  expect("full", "ContextFullError", /512/);
  expect("closed", "ClosedError", /Session is closed/);
  expect("template", "NotFoundError", /template/);
  expect("grammar", "InvalidArgumentError", /./);
  expect("source", "InvalidArgumentError", /https:/);
  for (const name of ["backend", "topP", "deadline", "source"]) {
    assert.ok(found[name].known, name);
  }
});

test("two backends compute at once, in two tabs", async () => {
  const other = await pageOf(context, url);
  const texts = await Promise.all(
    [page, other].map((each) =>
      each.evaluate(async () => {
        const { Model } = runcible;
        const [first, second] = await Promise.all([
          Model.load("builtin:fable", { backend: "cpu" }),
          Model.load("builtin:fable", { backend: "reference" }),
        ]);
        const generate = (model) =>
          model.session().generate("A", { temperature: 0, maxTokens: 12 });
        const made = await Promise.all([first, second, first].map(generate));
        first.close();
        second.close();
        return made.map(({ text }) => text);
      }),
    ),
  );
  await other.close();
  const [first, second, again] = texts[0];
  assert.ok(first.length > 10 && second.length > 10);
  assert.equal(again, first);
  assert.deepEqual(texts[1], texts[0]);
});

test("a session moves to another backend, and is restored", async () => {
  const { before, moved, restored } = await page.evaluate(async () => {
    const { Model, Session } = runcible;
    const other = await Model.load("builtin:fable", { backend: "reference" });
    const session = fable.session();
    await session.append("A fox and a crow");
    await session.decode();
    const before = [...(await session.tokens())];
    const moved = await session.migrate(other);
    const saved = await session.saveBytes();
    const restored = await Session.restore(fable, saved);
    return {
      before,
      moved: [...(await moved.tokens())],
      restored: [...(await restored.tokens())],
    };
  });
  assert.ok(before.length > 3);
  assert.deepEqual(moved, before);
  assert.deepEqual(restored, before);
});

test("terminate ends everything, and a new worker starts", async () => {
  const { lost, closed, again } = await page.evaluate(async () => {
    const { Model, terminate } = runcible;
    const stream = fable.session().stream("A", { ignoreEos: true });
    await stream.next();
    const lost = failureOf(async () => {
      for await (const _ of stream);
    });
    await terminate();
    const closed = await failureOf(() => fable.report());
    const model = await Model.load("builtin:fable");
    const { text } = await model.session().generate("A", { maxTokens: 5 });
    return { lost: await lost, closed, again: text };
  });
  assert.equal(lost.name, "ClosedError");
  assert.equal(closed.name, "ClosedError");
  assert.match(closed.message, /terminate/);
  assert.ok(again.length > 0);
});

// In Firefox a worker of the page that made others waited for ever in one of three of
// these rounds.
test("threads start, however often the worker is restarted", async () => {
  const { cores, expected } = await page.evaluate(async () => {
    const { Backend, start, terminate } = runcible;
    const cores = [];
    for (let round = 0; round < 6; ++round) {
      await terminate();
      await start();
      const backend = await Backend.open("cpu");
      cores.push((await backend.device()).cores);
    }
    return { cores, expected: navigator.hardwareConcurrency };
  });
  assert.deepEqual(cores, new Array(6).fill(expected));
});

test("a page that is not isolated computes with one thread", async () => {
  const { server: other, url } = await site({});
  try {
    const page = await pageOf(await browser.newContext(), url);
    const { support, wanted, text } = await page.evaluate(async () => {
      const { Model, start, support } = runcible;
      let wanted;
      try {
        await start({ threads: true });
      } catch ({ name, message }) {
        wanted = { name, message };
      }
      const model = await Model.load("builtin:fable", { backend: "cpu" });
      const session = model.session();
      const options = { temperature: 0, maxTokens: 120 };
      const { text } = await session.generate("A fox", options);
      return { support: support(), wanted, text };
    });
    assert.equal(support.threads, false);
    for (const header of Object.keys(isolation).slice(0, 2)) {
      assert.match(support.advice, new RegExp(header));
      assert.match(wanted.message, new RegExp(header));
    }
    assert.equal(wanted.name, "UnsupportedError");
    assert.equal(text.trim(), native.trim());
  } finally {
    other.close();
  }
});

test("files of the package that are missing on the server are reported", async () => {
  const found = {};
  const files = ["worker/worker.js", "runcible/runcible.mjs"];
  files.push("runcible/runcible.wasm", "runcible/runcible.worker.js");
  files.push("worker/thread.js");
  for (const name of files) {
    const { server: other, url } = await site(isolation, {
      [`/runcible-web/${name}`]: "/nowhere",
    });
    const page = await pageOf(await browser.newContext(), url);
    found[name] = await page.evaluate(() =>
      runcible.start().catch(({ name, message }) => `${name}: ${message}`),
    );
    await page.close();
    other.close();
  }
  assert.match(found[files[0]], /^InternalError.*worker\.js/);
  assert.match(found[files[1]], /^FileError.*runcible\.mjs cannot be loaded/);
  assert.match(found[files[2]], /^\w+Error.*runcible\.wasm/);
  assert.match(found[files[3]], /^FileError.*404.*runcible\.worker\.js/);
  assert.match(found[files[4]], /^InternalError.*thread\.js/);
});

/** A package that was built without relaxed SIMD contains an empty module. */
const relaxed = "runcible/runcible-relaxed.wasm";
const hasRelaxed = statSync(`${process.env.DIST}/${relaxed}`).size > 8;

test("relaxed SIMD computes products", { skip: !hasRelaxed }, async () => {
  const features = async (url) => {
    const other = await pageOf(await browser.newContext(), url);
    const found = await other.evaluate(async () => {
      await runcible.start({ threads: true });
      return (await (await runcible.Backend.open("cpu")).device()).features;
    });
    await other.close();
    return found;
  };
  const taken = await page.evaluate(
    (bytes) => WebAssembly.validate(Uint8Array.from(bytes)),
    [...readFileSync(`${process.env.DIST}/${relaxed}`)],
  );
  assert.equal(await features(url), taken ? "simd128 relaxed" : "simd128");
  // Without the file, SIMD128 computes them.
  const { server: other, url: without } = await site(isolation, {
    [`/runcible-web/${relaxed}`]: "/nowhere",
  });
  assert.equal(await features(without), "simd128");
  other.close();
});

test("a browser without SIMD is reported", async () => {
  const page = await context.newPage();
  await page.addInitScript(() => {
    WebAssembly.validate = () => false;
  });
  await page.goto(`${url}/page.html`);
  await page.waitForFunction(() => window.runcible !== undefined);
  const { name, message } = await page.evaluate(() =>
    runcible.start().catch(({ name, message }) => ({ name, message })),
  );
  assert.equal(name, "UnsupportedError");
  assert.match(message, /SIMD.*Chromium/);
  await page.close();
});
