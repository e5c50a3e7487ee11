#!/usr/bin/env node
// Puts similar functions of WebAssembly modules near each other, for gzip, which only
// finds repetitions within the last 32 KiB:
//
//   order.mjs FILE.wasm...    rewrites each file
import { readFileSync, writeFileSync } from "node:fs";

import { functionsOf, reordered } from "./functions.mjs";
import { orderOf } from "./similar.mjs";

/** The count of functions, with imported ones, whose numbers take one byte. */
const SHORT = 128;
/** Emscripten puts the most frequently called functions first; these keep their place. */
const KEPT = 100;

for (const file of process.argv.slice(2)) {
  const module = readFileSync(file);
  try {
    const functions = functionsOf(module);
    const kept = functions.length > SHORT ? KEPT : 0;
    const ordered = reordered(module, orderOf(functions, kept));
    // Compiling finds errors, if this Node supports the module's features: Node 20 does
    // not have relaxed SIMD.
    if (WebAssembly.validate(module)) new WebAssembly.Module(ordered);
    writeFileSync(file, ordered);
  } catch (error) {
    console.error(`order.mjs: ${file}: ${error.message}`);
    process.exitCode = 1;
  }
}
