// runcible-webgpu.mjs with what it takes from a browser: navigator.gpu is that of the
// npm package webgpu, and files are fetched.
import { readFileSync } from "node:fs";

const { DAWN, RUNCIBLE_WEBGPU } = process.env;
const { create, globals } = await import(DAWN);
Object.assign(globalThis, globals);
navigator.gpu = create([]);
globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)));

// It writes no shared memory, of which it is given bytes or words.
const { writeBuffer } = GPUQueue.prototype;
GPUQueue.prototype.writeBuffer = function (buffer, offset, data) {
  return writeBuffer.call(this, buffer, offset, data.slice());
};

export const { serve } = await import(RUNCIBLE_WEBGPU);
