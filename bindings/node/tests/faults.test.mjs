// Wrong types, closed objects, collection, exits: no crash, no hang, no growth.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";

import {
  Backend,
  Model,
  Session,
  Stream,
  Tensor,
  errors,
  plan,
  verify,
} from "runcible";

const backend = await Backend.open("cpu");
const model = await Model.load("builtin:fable", { backend });

/** Runs a separate Node, which must end by itself; returns its stdout. */
async function run(program, ...flags) {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [...flags, "--input-type=module", "-e", program],
    { cwd: new URL(".", import.meta.url), timeout: 300000 },
  );
  assert.equal(stderr, "");
  return stdout;
}

/** Collects garbage, and runs the finalizers. */
async function collect() {
  const { default: v8 } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  v8.setFlagsFromString("--expose-gc");
  const gc = globalThis.gc ?? runInNewContext("gc");
  for (let i = 0; i < 3; ++i) {
    gc();
    await setImmediate();
  }
}

test("arguments of wrong types throw", async () => {
  const session = model.session();
  const wrong = [
    () => Backend.open("cpu", 7),
    () => Backend.open("cpu", { thread: 2 }),
    () => Model.load("builtin:fa\0ble", { backend }),
    () => Model.load("builtin:fable", { backend, progress: 7 }),
    () => Model.load("builtin:fable", { backend, cacheDtype: "q9" }),
    () => plan(Symbol("a"), { backend }),
    () => verify(),
    () => Session.create("model"),
    () => Session.restore({}, "a"),
    () => model.session({ whenFull: "burst" }),
    () => model.tokenize(),
    () => model.detokenize([5, Symbol("a")]),
    () => session.append(7),
    () => session.append(["a"]),
    () => session.append(Float32Array.of(1)),
    () => session.stream({}),
    () => session.stream("A", null),
    () => session.stream("A", { maxTokens: {} }),
    () => session.stream("A", { constructor: 1 }),
    () => session.stream("A", { stop: 7 }),
    () => session.stream("A", { stop: "a\0b" }),
    () => session.stream("A", { logitBias: { a: 1 } }),
    () => session.stream("A", { logitBias: new Map([[1, "a"]]) }),
    () => session.stream("A", { temperature: 1n }),
    () => session.generate("A", { signal: 7 }),
    () => Tensor.from("numbers", [1], backend),
    () => Tensor.from([1], 1, backend),
    () => Tensor.fromBytes("a", [1], "f32", backend),
    () => Tensor.ones([1], backend).add(7),
    () => Tensor.ones([1], backend).quantize("q9"),
    () => new Stream(),
    () => new Session({}, model).position,
  ];
  for (const use of wrong) {
    await assert.rejects(async () => use(), TypeError, String(use));
  }
});

test("wrong values throw", async () => {
  const session = model.session();
  const wrong = [
    () => Backend.open("cpu", { threads: 2.5 }),
    () => Backend.open("cpu", { timeout: -1 }),
    () => session.append([1.5]),
    () => session.stream("A", { deadline: NaN }),
    () => session.stream("A", { maxTokens: 2 ** 53 }),
    () => session.stream("A", { seed: -1n }),
    () => session.stream("A", { seed: 2n ** 64n }),
    () => session.truncate(Infinity),
  ];
  for (const use of wrong) {
    await assert.rejects(async () => use(), RangeError, String(use));
  }
  const refused = [
    () => Session.restore(model, new Uint8Array(0)),
    () => Tensor.zeros([-1], backend),
    () => Tensor.zeros([], backend),
  ];
  for (const use of refused) {
    await assert.rejects(
      async () => use(),
      (error) =>
        error instanceof errors.InvalidArgumentError ||
        error instanceof errors.FormatError,
      String(use),
    );
  }
});

test("errors have codes like Node's", async () => {
  const kinds = Object.entries(errors).filter(([name]) => name.endsWith("Error"));
  assert.ok(kinds.length >= 20);
  for (const [name, kind] of kinds) {
    const error = new kind("a message");
    assert.ok(error instanceof errors.RuncibleError && error instanceof kind);
    assert.equal(error.name, name);
    assert.equal(error instanceof errors.BusyError, kind === errors.BusyError);
  }
  assert.ok(!(new RangeError("") instanceof errors.RuncibleError));
  assert.throws(
    () => model.session().stream("A", { topK: -1 }),
    (error) => error instanceof RangeError && error.code === "ERR_INVALID_ARG_VALUE",
  );
  const folder = mkdtempSync(join(tmpdir(), "runcible-"));
  try {
    const loop = join(folder, "loop.gguf");
    symlinkSync("loop.gguf", loop);
    const file = (path) => assert.rejects(Model.load(path), (error) => {
      const own = (() => {
        try {
          return readFileSync(path);
        } catch (thrown) {
          return thrown;
        }
      })();
      assert.equal(error.code, own.code);
      assert.equal(error.errno, own.errno);
      return error.message.includes(path);
    });
    await file(loop);
    await file(join(folder, "none.gguf"));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a generation that was left ends when its session is used", async () => {
  const session = model.session({ whenFull: "shift" });
  const generation = session.streamSync("A", { ignoreEos: true });
  assert.ok(generation.next().value.tokens.length > 0);
  session.generateSync("B", { maxTokens: 2 });
  assert.throws(() => [...generation], errors.CancelledError);
  assert.equal(generation.report.reason, "cancelled");
  for (const _ of session.streamSync("A", { ignoreEos: true })) break;
  await session.append("B");
});

test("closed objects throw ClosedError", () => {
  const session = model.session();
  session.close();
  assert.ok(session.closed);
  assert.throws(() => session.streamSync("B"), errors.ClosedError);
  const made = Object.create(Session.prototype);
  assert.throws(() => made.position, TypeError);
});

test("closing while a call is in flight lets it end", async () => {
  const session = model.session();
  await session.append("Once upon a time");
  const [decoded, saved] = [session.decode(), session.saveBytes()];
  session.close();
  await decoded;
  assert.ok((await saved).length > 0);
});

test("getters of arguments may close objects", async () => {
  const closing = (thing) =>
    Object.defineProperty([1, 1], 1, {
      get() {
        thing.close();
        return 1;
      },
    });
  const own = await Backend.open("cpu");
  const loaded = await Model.load("builtin:fable", { backend: own });
  const session = loaded.session();
  const { tokenizer } = loaded;
  await assert.rejects(session.append(closing(session)), errors.ClosedError);
  const uses = [
    () => tokenizer.detokenize(closing(tokenizer)),
    () => Tensor.zeros(closing(own), own),
    () => loaded.session({ contextLength: 16 }).stream(closing(loaded)).cancel(),
  ];
  assert.throws(uses[0], errors.ClosedError);
  assert.throws(uses[1], errors.ClosedError);
  uses[2]();
  assert.ok(loaded.closed);
});

test("objects may be collected in any order", async () => {
  for (let i = 0; i < 6; ++i) {
    const own = await Backend.open("cpu");
    const loaded = await Model.load("builtin:fable", { backend: own });
    const session = loaded.session({ whenFull: "shift" });
    const tensor = Tensor.ones([2], own);
    const things = [own, loaded, session, await session.fork(), tensor];
    session.stream("A", { ignoreEos: true });
    session.streamSync("A", { ignoreEos: true });
    things.push(things);
  }
  await collect();
});

test("a lost stream is cancelled", async () => {
  const session = model.session({ whenFull: "shift" });
  await (async () => {
    await session.stream("A", { ignoreEos: true }).next();
  })();
  for (let i = 0; ; ++i) {
    await collect();
    try {
      await session.append("B");
      return;
    } catch (error) {
      assert.equal(error.constructor, errors.BusyError);
      assert.ok(i < 1000, "the request goes on");
    }
  }
});

test("a stream with a waiting read is not lost", async () => {
  const next = model.session().stream("A", { maxTokens: 300 }).next();
  await collect();
  assert.ok(!(await next).done);
});

test("memory does not grow", async () => {
  // A leak grows each time; V8 and the allocator grow by leaps, and for longer if
  // there are many threads.
  const program = `
        import { readFileSync } from "node:fs";
    import { setImmediate } from "node:timers/promises";
    import { Model } from "runcible";
    const model = await Model.load("builtin:fable", { backend: "cpu" });
    const logitBias = new Map([[5, -1]]);
    async function generate(count) {
      for (let i = 0; i < count; ++i) {
        const session = model.session();
        await session.generate("A", { maxTokens: 1, stop: "x", logitBias });
        if (i % 2) session.close();
      }
      for (let i = 0; i < 3; ++i, await setImmediate()) gc();
      return readFileSync("/proc/self/statm", "utf8").split(" ")[1] * 4096;
    }
    let before = await generate(2500);
    const grown = [];
    do {
      const after = await generate(2500);
      grown.push(after - before);
      before = after;
    } while (grown.at(-1) >= 1 << 20 && grown.length < 16);
    console.log(grown.at(-1) < 1 << 20 ? "done" : grown.join(" "));`;
  const flags = ["--expose-gc", "--max-semi-space-size=1"];
  assert.equal(await run(program, ...flags), "done\n");
});

test("a process may exit with requests in flight", async () => {
  const begin = `
    import { Model } from "runcible";
    const model = await Model.load("builtin:fable", { backend: "cpu" });
    const options = { ignoreEos: true };
    const streams = [];
    for (let i = 0; i < 6; ++i) {
      const session = model.session({ whenFull: "shift" });
      streams.push(session.stream("A", options));
    }
    await streams[5].next();
    console.log("begun");`;
  assert.equal(await run(`${begin} process.exit()`), "begun\n");
  const all = "for (const stream of streams) stream.cancel()";
  assert.equal(await run(`${begin} ${all}`), "begun\n");
  await assert.rejects(run(`${begin} throw new Error("mine")`), /mine/);
  const lost = "streams.length = 0; setInterval(gc, 10).unref()";
  assert.equal(await run(`${begin} ${lost}`, "--expose-gc"), "begun\n");
});

test("a process ends when nothing is in flight", async () => {
  const program = `
    import { Model } from "runcible";
    const model = await Model.load("builtin:fable", { backend: "cpu" });
    const { report } = await model.session().generate("A", { maxTokens: 2 });
    console.log(report.reason);`;
  assert.equal(await run(program), "length\n");
});

test("a report of the process names the handle", async () => {
  const stream = model.session({ whenFull: "shift" }).stream("A", { ignoreEos: true });
  await stream.next();
  const { libuv } = process.report.getReport();
  assert.ok(libuv.some(({ type, is_referenced }) => type === "async" && is_referenced));
  await stream.return();
});

test("other contexts of the same thread may load the package", async () => {
  // Test runners do this: they load the package again for each context.
  const program = `
    import { createRequire } from "node:module";
    const require = createRequire(process.cwd() + "/");
    const load = () => {
      for (const name of Object.keys(require.cache)) delete require.cache[name];
      return require("runcible");
    };
    const packages = [load(), load(), load()];
    const texts = [];
    for (const { Model } of packages) {
      const model = await Model.load("builtin:fable", { backend: "cpu" });
      const options = { maxTokens: 3, seed: 1 };
      texts.push((await model.session().generate("A", options)).text);
    }
    console.log(new Set(packages).size, new Set(texts).size);`;
  assert.equal(await run(program), "3 1\n");
});
