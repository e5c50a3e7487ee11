// Programs see the variables of the process, which Emscripten keeps from them.
Module['preRun'] = [].concat(Module['preRun'] || [], function () {
  if (typeof ENV !== 'undefined') Object.assign(ENV, process.env);
});
// This Emscripten knows no Node with a fetch, and takes it for one of files.
delete globalThis.fetch;
