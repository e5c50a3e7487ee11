// It knows no Node that has a fetch, and would try to fetch a file.
if (
  runcibleInNode &&
  !Module["ENVIRONMENT_IS_PTHREAD"] &&
  !Module["wasmBinary"] &&
  !Module["instantiateWasm"]
) {
  Module["wasmBinary"] = require("fs").readFileSync(
    Module["locateFile"]
      ? Module["locateFile"]("@module@.wasm", __dirname)
      : __dirname + "@module@.wasm",
  );
}
// Views of memory are JavaScript's to make: it grows. Workers have it already.
Module["preRun"] = [].concat(Module["preRun"] || [], function () {
  Module["wasmMemory"] = wasmMemory;
});
// Where the backend webgpu has its files, which are fetched if it is used.
Module["preRun"].push(function () {
  ENV["RUNCIBLE_WEBGPU_LIBRARY"] = locateFile("runcible-webgpu.mjs");
  ENV["RUNCIBLE_WEBGPU_SHADERS"] = locateFile("runcible-webgpu.wgsl");
});
