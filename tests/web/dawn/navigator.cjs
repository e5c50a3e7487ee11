// Before the main program and each of its threads: they are told that there is
// WebGPU, which library.mjs brings to the one that serves it.
Object.defineProperty(globalThis, "navigator", {
  value: { userAgent: "Node with Dawn", gpu: {} },
});
