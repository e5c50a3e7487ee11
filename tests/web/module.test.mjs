// The module of the C ABI as JavaScript sees it, with threads and without.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

const { MODULE, SOURCES, THREADS, RELAXED } = process.env;
const { default: createRuncible } = await import(pathToFileURL(MODULE));
const { prompts } = JSON.parse(
  readFileSync(`${SOURCES}/tests/golden/fable/fable.json`, "utf8"),
);
const { continuation } = prompts.find((one) => one.name === "nothing");
const model_file = readFileSync(`${SOURCES}/examples/model/fable.gguf`);

const rc = await createRuncible({ workers: 6 });
rc.FS.mkdirTree("/usr/local/share/runcible");
rc.FS.writeFile("/usr/local/share/runcible/fable.gguf", model_file);

// Of the level `relaxed`, before any backend is opened.
if (RELAXED) {
  const products = readFileSync(RELAXED);
  const at = rc._malloc(products.length);
  new Uint8Array(rc.wasmMemory.buffer).set(products, at);
  rc._rc_web_relaxed(at, products.length);
}

// Workers keep Node alive.
after(() => rc.PThread?.terminateAllThreads());

// The memory as it is now: it grows.
const bytes = () => new Uint8Array(rc.wasmMemory.buffer);
const words = () => new Uint32Array(rc.wasmMemory.buffer);
const word = (at) => words()[at / 4];
const set = (at, value) => (words()[at / 4] = value);

function text(value) {
  const size = rc.lengthBytesUTF8(value) + 1;
  const at = rc._malloc(size);
  rc.stringToUTF8(value, at, size);
  return at;
}

// A struct of the first `size` bytes, in which the offsets are those of 32 bits.
function struct(init, size, members) {
  const at = rc._malloc(size);
  init(at, size);
  for (const [offset, value] of Object.entries(members)) set(at + +offset, value);
  return at;
}

const check = (status) =>
  assert.equal(status, 0, rc.UTF8ToString(rc._rc_error_message()));
const out = rc._malloc(4);
// What a function gives through its last argument.
function given(status) {
  check(status);
  return word(out);
}

check(rc._rc_config_set(text("generate.temperature"), text("0")));
const open = (name) => given(rc._rc_backend_open(text(name), 0, out));
const load = (backend) =>
  given(rc._rc_model_load(backend, text("builtin:fable"), 0, out));
const modelOptions = (members) =>
  struct(rc._rc_model_options_init, 48, members);
const generateOptions = (members) =>
  struct(rc._rc_generate_options_init, 48, members);

// What an event says.
function read(event) {
  const [, type, , at, length] = words().subarray(event / 4);
  const text = new TextDecoder().decode(bytes().slice(at, at + length));
  const report = word(event + 48);
  const status = report ? word(report + 8) | 0 : undefined;
  const message = word(event + 44) ? rc.UTF8ToString(word(event + 44)) : "";
  return { type, text, status, message };
}

// Generates on JavaScript's event loop: the text, and how it ended.
function stream(session, options = 0, heard = () => {}) {
  return new Promise((resolve) => {
    let story = "";
    const callback = rc.addFunction((user, at) => {
      const event = read(at);
      story += event.text;
      heard(word(out));
      if (event.type !== 1) return;
      resolve({ story, status: event.status, message: event.message });
      setImmediate(() => rc.removeFunction(callback));
    }, "vii");
    check(rc._rc_generate_async(session, options, 0, callback, 0, out));
    assert.equal(story, "", "no event comes before the call has returned");
  });
}

test("a fable, greedily, as transformers has it", () => {
  const backend = open("reference");
  const model = load(backend);
  const session = given(rc._rc_session_create(model, 0, out));
  const story = given(rc._rc_generate(session, 0, out, 0, 0));
  assert.equal(rc.UTF8ToString(story), continuation);
  rc._rc_free(story);
  rc._rc_session_release(session);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
});

test("pieces come on the event loop, and other events between them", async () => {
  const backend = open("reference");
  const model = load(backend);
  const session = given(rc._rc_session_create(model, 0, out));
  let pieces = 0;
  let others = 0;
  const ticking = setInterval(() => ++others, 0);
  const { story, status } = await stream(session, 0, () => ++pieces);
  clearInterval(ticking);
  assert.equal(status, 0);
  assert.equal(story, continuation);
  assert.ok(pieces > 10, `${pieces} pieces`);
  // With threads all may be done before a timer is.
  if (THREADS === "OFF") assert.ok(others > 3, `${others} other events`);
  for (const release of ["session", "model", "backend"]) {
    rc[`_rc_${release}_release`]({ session, model, backend }[release]);
  }
});

test("two sessions at once tell what each tells alone", async () => {
  const backend = open("reference");
  const model = load(backend);
  const prompt = prompts.find((one) => one.name === "opening");
  const sessions = [0, 1].map(() => given(rc._rc_session_create(model, 0, out)));
  const at = text(prompt.text);
  const options = generateOptions({
    4: at,
    8: rc.lengthBytesUTF8(prompt.text),
  });
  const [first, second] = await Promise.all([
    stream(sessions[0]),
    stream(sessions[1], options),
  ]);
  assert.equal(first.story, continuation);
  assert.equal(second.story, prompt.continuation);
  // The handles may go in any order.
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
  sessions.forEach((session) => rc._rc_session_release(session));
});

test("a request is cancelled between two steps", async () => {
  const backend = open("reference");
  const model = load(backend);
  const session = given(rc._rc_session_create(model, 0, out));
  const begun = stream(session);
  const request = word(out);
  setImmediate(() => check(rc._rc_request_cancel(request)));
  const { story, status } = await begun;
  assert.equal(status, -12);
  assert.ok(continuation.startsWith(story));
  assert.ok(story.length < continuation.length);
  rc._rc_request_release(request);
  // The session goes on, and its engine.
  const rest = await stream(session);
  assert.equal(rest.status, 0);
  rc._rc_session_release(session);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
});

// Loads the fable from memory that is lent, on the event loop.
function loadLent(backend, options) {
  const data = rc._malloc(model_file.length);
  bytes().set(model_file, data);
  const memory = struct(rc._rc_model_memory_init, 32, {
    4: data,
    8: model_file.length,
    16: text("fable"),
    20: rc._rc_web_free(),
    24: data,
  });
  return new Promise((resolve) => {
    const callback = rc.addFunction((user, status, message, model) => {
      resolve({ status, message: rc.UTF8ToString(message), model });
      setImmediate(() => rc.removeFunction(callback));
    }, "viiii");
    check(
      rc._rc_model_load_memory_async(backend, memory, options, 0, callback, 0),
    );
  });
}

test("a model is loaded from memory that is lent, with progress", async () => {
  const backend = open("reference");
  const fractions = [];
  const progress = rc.addFunction((user, fraction) => {
    assert.equal(user, 7);
    fractions.push(fraction);
    return 0;
  }, "iid");
  const record = rc._malloc(8);
  set(record, progress);
  set(record + 4, 7);
  const options = modelOptions({ 36: rc._rc_web_progress(), 40: record });
  const { status, message, model } = await loadLent(backend, options);
  assert.equal(status, 0, message);
  assert.equal(fractions.at(-1), 1);
  const session = given(rc._rc_session_create(model, 0, out));
  assert.equal((await stream(session)).story, continuation);
  rc._rc_session_release(session);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
});

test("what progress answers ends loading", async () => {
  const backend = open("reference");
  const progress = rc.addFunction(() => 1, "iid");
  const record = rc._malloc(8);
  set(record, progress);
  const options = modelOptions({ 36: rc._rc_web_progress(), 40: record });
  const { status, model } = await loadLent(backend, options);
  assert.equal(status, -12);
  assert.equal(model, 0);
  rc._rc_backend_release(backend);
});

// A callback whose exception ran through the library would leave its locks taken
// and its engine in the middle of a step.
test("what an event callback throws ends its request", async () => {
  const backend = open("reference");
  const model = load(backend);
  const session = given(rc._rc_session_create(model, 0, out));
  for (const thrown of [new RangeError("enough"), "enough", Object.create(null)]) {
    let pieces = 0;
    const { status, message } = await stream(session, 0, () => {
      if (++pieces === 3) throw thrown;
    });
    assert.equal(status, -19);
    assert.match(message, /event callback .*threw an exception: .*; it has to return/);
    if (thrown.message) assert.match(message, /RangeError: enough/);
    check(rc._rc_session_truncate(session, 0n));
  }
  const { story } = await stream(session);
  assert.equal(story, continuation);
  rc._rc_session_release(session);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
});

test("what a progress callback throws ends its loading", async () => {
  const backend = open("reference");
  const progress = rc.addFunction(() => {
    throw new Error("no such bar");
  }, "iid");
  const record = rc._malloc(8);
  set(record, progress);
  const options = modelOptions({ 36: rc._rc_web_progress(), 40: record });
  for (let i = 0; i < 3; ++i) {
    const { status, message, model } = await loadLent(backend, options);
    assert.equal(status, -19);
    assert.match(message, /progress callback threw an exception: .*no such bar/);
    assert.equal(model, 0);
  }
  const { status, model } = await loadLent(backend, 0);
  assert.equal(status, 0);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
});

test("what a log callback throws is dropped", async () => {
  let messages = 0;
  const log = rc.addFunction(() => {
    ++messages;
    throw new Error("no log");
  }, "viii");
  const record = rc._malloc(8);
  set(record, log);
  rc._rc_log_set(rc._rc_web_log(), record, 4);
  const backend = open("reference");
  const options = modelOptions({ 8: 100000, 16: 256 });
  const { status, model } = await loadLent(backend, options);
  rc._rc_log_set(0, 0, 0);
  assert.equal(status, 0);
  assert.ok(messages > 0);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
});

test("memory that was lent is given back", async () => {
  const backend = open("reference");
  const sizes = [];
  for (let i = 0; i < 40; ++i) {
    const { status, model } = await loadLent(backend, 0);
    assert.equal(status, 0);
    rc._rc_model_release(model);
    sizes.push(rc.wasmMemory.buffer.byteLength);
  }
  assert.equal(sizes.at(-1), sizes[20], sizes.join(" "));
  rc._rc_backend_release(backend);
});

test("log messages come from every thread", async () => {
  const messages = [];
  const log = rc.addFunction(
    (user, level, message) => messages.push(rc.UTF8ToString(message)),
    "viii",
  );
  const record = rc._malloc(8);
  set(record, log);
  rc._rc_log_set(rc._rc_web_log(), record, 4);
  const backend = open("reference");
  // More than the model was trained for, which is worth a warning.
  const options = modelOptions({ 8: 100000, 16: 256 });
  await loadLent(backend, options);
  rc._rc_log_set(0, 0, 0);
  assert.ok(
    messages.some((message) => /100000/.test(message)),
    messages.join("\n"),
  );
  rc._rc_backend_release(backend);
});

test("what is not there is an error that says so", () => {
  const status = rc._rc_backend_open(text("vulkan"), 0, out);
  assert.notEqual(status, 0);
  assert.match(rc.UTF8ToString(rc._rc_error_message()), /vulkan/);
  const loop = given(rc._rc_loop_create(out));
  assert.equal(rc._rc_loop_fd(loop, out), -6);
  assert.equal(rc._rc_loop_handle(loop, out, out + 8), -6);
  rc._rc_loop_release(loop);
});

test("a file of settings is refused: nothing here reads TOML", () => {
  rc.FS.writeFile("/settings.toml", "[generate]\ntemperature = 1\n");
  assert.equal(rc._rc_config_use_file(text("/settings.toml")), -4);
  const message = rc.UTF8ToString(rc._rc_error_message());
  assert.match(message, /^\/settings.toml, .* without a reader of TOML; /);
  check(rc._rc_config_use_file(text("")));
});

test("a loop of its own can be dispatched and waited for", () => {
  const backend = open("reference");
  const model = load(backend);
  const session = given(rc._rc_session_create(model, 0, out));
  const loop = given(rc._rc_loop_create(out));
  let story = "";
  let ended = false;
  const callback = rc.addFunction((user, at) => {
    const event = read(at);
    story += event.text;
    ended = event.type === 1;
  }, "vii");
  check(rc._rc_generate_async(session, 0, loop, callback, 0, 0));
  while (!ended) {
    check(rc._rc_loop_wait(loop, -1n));
    check(rc._rc_loop_dispatch(loop, 0, 0));
  }
  assert.equal(story, continuation);
  assert.equal(rc._rc_loop_wait(loop, 10n), -11);
  rc.removeFunction(callback);
  rc._rc_session_release(session);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
  rc._rc_loop_release(loop);
});

test(
  "without threads what can never come is not waited for",
  { skip: THREADS !== "OFF" },
  () => {
    const loop = given(rc._rc_loop_create(out));
    assert.equal(rc._rc_loop_wait(loop, -1n), -15);
    assert.match(rc.UTF8ToString(rc._rc_error_message()), /no threads/);
    rc._rc_loop_release(loop);
  },
);

test("the levels of the CPU tell the same", { skip: !RELAXED }, () => {
  const stories = ["simd128", "relaxed"].map((level) => {
    check(rc._rc_config_set(text("library.isa"), text(level)));
    const backend = open("cpu");
    const model = load(backend);
    const session = given(rc._rc_session_create(model, 0, out));
    const story = given(rc._rc_generate(session, 0, out, 0, 0));
    const told = rc.UTF8ToString(story);
    rc._rc_free(story);
    rc._rc_session_release(session);
    rc._rc_model_release(model);
    rc._rc_backend_release(backend);
    return told;
  });
  assert.ok(stories[0].length > 100);
  assert.equal(stories[1], stories[0]);
});

test("builds tell what they are", () => {
  const info = JSON.parse(rc.UTF8ToString(rc._rc_build_info()));
  const levels = "_rc_web_relaxed" in rc ? ["simd128", "relaxed"] : ["simd128"];
  assert.deepEqual(info.instruction_sets, levels);
  assert.deepEqual(info.backends, ["reference", "cpu"]);
  assert.equal(info.threads, THREADS === "ON");
  assert.equal("PThread" in rc, THREADS === "ON");
});
