// This Emscripten asks Node for its modules as CommonJS does, which a module
// cannot.
var runcibleInNode =
  typeof process == "object" &&
  typeof process.versions == "object" &&
  typeof process.versions.node == "string";
if (runcibleInNode && !process.getBuiltinModule) {
  throw new Error(
    "Runcible needs Node 20.16, 22.3 or newer; this is " + process.version,
  );
}
var require = runcibleInNode ? process.getBuiltinModule : undefined;
var __dirname = runcibleInNode
  ? require("url").fileURLToPath(new URL(".", import.meta.url))
  : undefined;
