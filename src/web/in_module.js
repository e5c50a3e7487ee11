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
Module["preRun"] = [].concat(Module["preRun"] || [], function () {
  // Views of memory are JavaScript's to make: it grows. Workers have it already.
  Module["wasmMemory"] = wasmMemory;
  // An exception of a callback becomes one of the library (module.cc): one of
  // JavaScript would unwind all of the library.
  var guards = new WeakMap();
  Module["addFunction"] = function (f, signature) {
    if (typeof f != "function" || !signature) return addFunction(f, signature);
    if (!guards.has(f)) {
      guards.set(f, function () {
        try {
          return f.apply(this, arguments);
        } catch (error) {
          var text;
          try {
            text = String(error);
          } catch (_) {
            text = "an exception without text";
          }
          var size = lengthBytesUTF8(text) + 1;
          var at = _malloc(size);
          if (at) stringToUTF8(text, at, size);
          _rc_web_throw(at);
        }
      });
    }
    return addFunction(guards.get(f), signature);
  };
});
// Where the backend webgpu has its files, which are fetched if it is used.
Module["preRun"].push(function () {
  ENV["RUNCIBLE_WEBGPU_LIBRARY"] = locateFile("runcible-webgpu.mjs");
  ENV["RUNCIBLE_WEBGPU_SHADERS"] = locateFile("runcible-webgpu.wgsl");
});
