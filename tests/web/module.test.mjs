// The module of the C ABI as JavaScript sees it.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, test } from "node:test";

const { MODULE, SOURCES } = process.env;
const createRuncible = createRequire(import.meta.url)(MODULE);
const fable = JSON.parse(
  readFileSync(`${SOURCES}/tests/golden/fable/fable.json`, "utf8"),
);

const rc = await createRuncible({
  // This Emscripten knows no Node with a fetch, and takes it for one of files.
  wasmBinary: readFileSync(MODULE.replace(/js$/, "wasm")),
});
rc.FS.mkdirTree("/usr/local/share/runcible");
rc.FS.writeFile(
  "/usr/local/share/runcible/fable.gguf",
  readFileSync(`${SOURCES}/examples/model/fable.gguf`),
);

// Workers keep Node alive.
after(() => rc.PThread.terminateAllThreads());

function text(value) {
  const size = rc.lengthBytesUTF8(value) + 1;
  const at = rc._malloc(size);
  rc.stringToUTF8(value, at, size);
  return at;
}

const out = rc._malloc(4);
// What a function gives through its last argument.
function given(status) {
  assert.equal(status, 0, rc.UTF8ToString(rc._rc_error_message()));
  return new Uint32Array(rc.HEAPU8.buffer)[out / 4];
}

test("a fable, greedily, as transformers has it", () => {
  given(rc._rc_config_set(text("generate.temperature"), text("0")));
  const backend = given(rc._rc_backend_open(text("reference"), 0, out));
  const model = given(
    rc._rc_model_load(backend, text("builtin:fable"), 0, out),
  );
  const session = given(rc._rc_session_create(model, 0, out));
  const story = given(rc._rc_generate(session, 0, out, 0, 0));
  const { continuation } = fable.prompts.find((one) => one.name === "nothing");
  assert.equal(rc.UTF8ToString(story), continuation);
  rc._rc_free(story);
  rc._rc_session_release(session);
  rc._rc_model_release(model);
  rc._rc_backend_release(backend);
});

test("what is not there is an error that says so", () => {
  const status = rc._rc_backend_open(text("vulkan"), 0, out);
  assert.notEqual(status, 0);
  assert.match(rc.UTF8ToString(rc._rc_error_message()), /vulkan/);
});

test("builds tell their levels", () => {
  const info = JSON.parse(rc.UTF8ToString(rc._rc_build_info()));
  assert.deepEqual(info.instruction_sets, ["simd128"]);
  assert.deepEqual(info.backends, ["reference", "cpu"]);
});
