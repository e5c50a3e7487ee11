/**
 * The worker of a thread of the library: runs a script of Emscripten that exchanges
 * messages with the worker of the library as if that had made it.
 */
import type { ToThread } from "../protocol.js";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

scope.onmessage = async ({ data }: MessageEvent<ToThread>) => {
  const { script, port } = data;
  scope.postMessage = (message: unknown) => port.postMessage(message);
  await import(/* @vite-ignore */ /* webpackIgnore: true */ script);
  // The handler of the script.
  port.onmessage = (event) => scope.onmessage!(event);
};
