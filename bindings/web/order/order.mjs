#!/usr/bin/env node
// Puts the functions of WebAssembly modules beside those that they are like, for
// gzip, which finds again what came in the last 32 KiB alone:
//
//   order.mjs FILE.wasm...    each is written anew
import { readFileSync, writeFileSync } from "node:fs";

import { functionsOf, reordered } from "./functions.mjs";
import { orderOf } from "./similar.mjs";

/** So many, with those that are imported, have numbers of one byte. */
const SHORT = 128;
/** Emscripten puts first what is called most often. */
const KEPT = 100;

for (const file of process.argv.slice(2)) {
  const module = readFileSync(file);
  try {
    const functions = functionsOf(module);
    const kept = functions.length > SHORT ? KEPT : 0;
    const ordered = reordered(module, orderOf(functions, kept));
    // Compiling tells what is wrong, where this Node knows what is in the module:
    // Node 20 lacks relaxed SIMD.
    if (WebAssembly.validate(module)) new WebAssembly.Module(ordered);
    writeFileSync(file, ordered);
  } catch (error) {
    console.error(`order.mjs: ${file}: ${error.message}`);
    process.exitCode = 1;
  }
}
