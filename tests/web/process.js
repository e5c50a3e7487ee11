// Programs see the variables of the process, which Emscripten keeps from them.
Module['preRun'] = [].concat(Module['preRun'] || [], function () {
  Object.assign(ENV, process.env);
});
