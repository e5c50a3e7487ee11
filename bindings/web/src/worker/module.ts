/** The module that Emscripten makes from the library. */
import { status, StatusError } from "./status.js";
import { ThreadWorker } from "./threads.js";

/** The used part of it; pointers are numbers, and 64-bit integers bigints. */
export interface Module {
  readonly wasmMemory: WebAssembly.Memory;
  readonly FS: any;
  /** Only in the build with threads. */
  readonly PThread?: {
    readonly unusedWorkers: ThreadWorker[];
    allocateUnusedWorker(): void;
    loadWasmModuleToWorker(worker: ThreadWorker, loaded: () => void): void;
  };
  addFunction(f: (...args: any[]) => unknown, signature: string): number;
  _malloc(size: number): number;
  _free(at: number): void;
  /** Only in a build with the level `relaxed`. */
  _rc_web_relaxed?(module: number, size: number): void;
  readonly [name: `_rc_${string}`]: (...args: any[]) => any;
}

// Each is named separately, so that bundlers find it.
const threaded = {
  "runcible.mjs": new URL("../runcible/runcible.mjs", import.meta.url),
  "runcible.wasm": new URL("../runcible/runcible.wasm", import.meta.url),
  "runcible.worker.js": new URL(
    "../runcible/runcible.worker.js",
    import.meta.url,
  ),
};
/** Files that the backend webgpu fetches when it is used, in the build with threads. */
const webgpu = {
  "runcible-webgpu.mjs": new URL(
    "../runcible/runcible-webgpu.mjs",
    import.meta.url,
  ),
  "runcible-webgpu.wgsl": new URL(
    "../runcible/runcible-webgpu.wgsl",
    import.meta.url,
  ),
};
const single = {
  "runcible-single.mjs": new URL(
    "../runcible/runcible-single.mjs",
    import.meta.url,
  ),
  "runcible-single.wasm": new URL(
    "../runcible/runcible-single.wasm",
    import.meta.url,
  ),
};

/** Products by relaxed SIMD, for browsers that have it. */
const relaxed = {
  threaded: new URL("../runcible/runcible-relaxed.wasm", import.meta.url),
  single: new URL("../runcible/runcible-single-relaxed.wasm", import.meta.url),
};

/**
 * A module with i16x8.relaxed_dot_i8x16_i7x16_s of two zeros (WebAssembly Core 3.0,
 * chapter 5).
 */
const relaxedDot = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0f, 0x01, 0x0d, 0x00, 0x41, 0x00, 0xfd, 0x0f],
  ...[0x41, 0x00, 0xfd, 0x0f, 0xfd, 0x92, 0x02, 0x0b],
);

/** The URLs of the package's models, by name. */
export const builtins: Readonly<Record<string, URL>> = {
  fable: new URL("../models/fable.gguf", import.meta.url),
  fabulist: new URL("../models/fabulist.gguf", import.meta.url),
};

/**
 * Returns a URL of the page's origin for a file that a bundler has inlined into a
 * script, because a worker must have that origin.
 */
async function ofOrigin(url: URL): Promise<string> {
  if (url.protocol !== "data:") return url.href;
  return URL.createObjectURL(await (await fetch(url)).blob());
}

/** Checks that a URL can be fetched: not all browsers report a worker that cannot. */
async function see(url: string): Promise<void> {
  const { ok, status: code } = await fetch(url);
  if (!ok) throw new Error(`the server answers ${code} for ${url}`);
}

/** Compiles while the file arrives, if the server sends its type. */
async function compiled(url: string): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`the server answers ${response.status} for ${url}`);
  }
  const type = response.headers.get("content-type") ?? "";
  return type.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/** Fetches the faster products; returns undefined if they are not available. */
async function relaxedModule(url: URL): Promise<Uint8Array | undefined> {
  if (!WebAssembly.validate(relaxedDot)) return undefined;
  try {
    const response = await fetch(url);
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
  } catch {
    return undefined;
  }
}

/** Passes the products to the library, before a backend is opened. */
function give(module: Module, products: Uint8Array | undefined): void {
  if (products === undefined || module._rc_web_relaxed === undefined) return;
  const at = module._malloc(products.length);
  if (at === 0) return;
  new Uint8Array(module.wasmMemory.buffer).set(products, at);
  module._rc_web_relaxed(at, products.length);
}

export async function loadModule(
  threads: boolean,
  workers: number,
): Promise<Module> {
  const products = relaxedModule(threads ? relaxed.threaded : relaxed.single);
  const files = new Map<string, string>();
  for (const [name, url] of Object.entries(threads ? threaded : single)) {
    files.set(name, await ofOrigin(url));
  }
  const [main, binary, ...others] = [...files.values()] as [string, string];
  for (const [name, url] of Object.entries(webgpu)) files.set(name, url.href);
  let made: any;
  let code: WebAssembly.Module;
  try {
    [made, code] = await Promise.all([
      import(/* @vite-ignore */ /* webpackIgnore: true */ main),
      compiled(binary),
      ...others.map(see),
    ]);
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) throw unsupported(binary, error);
    throw new StatusError(
      status.IO,
      `${main} cannot be loaded: ${String(error)}; the files of the package ` +
        "belong together on the server, with the type text/javascript",
    );
  }
  Object.assign(globalThis, { Worker: ThreadWorker });
  try {
    const module: Module = await made.default({
      workers,
      mainScriptUrlOrBlob: main,
      locateFile: (name: string) => files.get(name) ?? name,
      instantiateWasm: (
        imports: WebAssembly.Imports,
        receive: (made: WebAssembly.Instance, of: WebAssembly.Module) => void,
      ) => {
        const instance = new WebAssembly.Instance(code, imports);
        receive(instance, code);
        return instance.exports;
      },
      print: (text: string) => console.info(text),
      printErr: (text: string) => console.warn(text),
    });
    give(module, await products);
    return module;
  } catch (error) {
    throw unsupported(binary, error);
  }
}

function unsupported(binary: string, error: unknown): StatusError {
  return new StatusError(
    status.UNSUPPORTED,
    `this browser cannot run ${binary}: ${String(error)}; it takes SIMD, ` +
      "exceptions and bulk memory of WebAssembly, and memory for it",
  );
}

/** The number of idle workers for threads that the library starts. */
const STANDING = 4;

/**
 * Starts workers to replace those that have become threads: a thread that starts while
 * no worker is idle fails. A worker that is still loading is not idle: a call that waits
 * for a thread in it would keep it from loading.
 */
export async function standBy({ PThread }: Module): Promise<void> {
  if (PThread === undefined) return;
  const { unusedWorkers } = PThread;
  const missing = Math.max(0, STANDING - unusedWorkers.length);
  const coming = Array.from({ length: missing }, () => {
    PThread.allocateUnusedWorker();
    const worker = unusedWorkers.pop()!;
    return new Promise<void>((resolve) =>
      PThread.loadWasmModuleToWorker(worker, () => {
        unusedWorkers.push(worker);
        resolve();
      }),
    );
  });
  await Promise.all(coming);
}
