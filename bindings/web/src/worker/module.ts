/** The module that Emscripten makes of the library. */
import { status, StatusError } from "./status.js";
import { ThreadWorker } from "./threads.js";

/** What is used of it; pointers are numbers, and integers of 64 bits bigints. */
export interface Module {
  readonly wasmMemory: WebAssembly.Memory;
  readonly FS: any;
  /** Of the build with threads. */
  readonly PThread?: {
    readonly unusedWorkers: ThreadWorker[];
    allocateUnusedWorker(): void;
    loadWasmModuleToWorker(worker: ThreadWorker, loaded: () => void): void;
  };
  addFunction(f: (...args: any[]) => unknown, signature: string): number;
  _malloc(size: number): number;
  _free(at: number): void;
  readonly [name: `_rc_${string}`]: (...args: any[]) => any;
}

// Each is named by itself, so that bundlers find it.
const threaded = {
  "runcible.mjs": new URL("../runcible/runcible.mjs", import.meta.url),
  "runcible.wasm": new URL("../runcible/runcible.wasm", import.meta.url),
  "runcible.worker.js": new URL(
    "../runcible/runcible.worker.js",
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

/** Where models of the package are, by name. */
export const builtins: Readonly<Record<string, URL>> = {
  fable: new URL("../models/fable.gguf", import.meta.url),
  fabulist: new URL("../models/fabulist.gguf", import.meta.url),
};

/**
 * A file that a bundler has made a part of a script as one of the page's origin,
 * which a worker has to be of.
 */
async function ofOrigin(url: URL): Promise<string> {
  if (url.protocol !== "data:") return url.href;
  return URL.createObjectURL(await (await fetch(url)).blob());
}

/** Not all browsers tell that a worker cannot be loaded. */
async function see(url: string): Promise<void> {
  const { ok, status: code } = await fetch(url);
  if (!ok) throw new Error(`the server answers ${code} for ${url}`);
}

/** Compiled while it comes, if the server gives it its type. */
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

export async function loadModule(
  threads: boolean,
  workers: number,
): Promise<Module> {
  const files = new Map<string, string>();
  for (const [name, url] of Object.entries(threads ? threaded : single)) {
    files.set(name, await ofOrigin(url));
  }
  const [main, binary, ...others] = [...files.values()] as [string, string];
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
    return await made.default({
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

/** How many workers stand by for threads that the library begins. */
const STANDING = 4;

/**
 * Begins workers for those that have become threads: a thread that is begun while
 * none stands by fails. One that is being loaded does not stand by yet: a call that
 * waits for a thread in it would keep it from being loaded.
 */
export async function standBy({ PThread }: Module): Promise<void> {
  if (PThread === undefined) return;
  const { unusedWorkers } = PThread;
  const lacking = Math.max(0, STANDING - unusedWorkers.length);
  const coming = Array.from({ length: lacking }, () => {
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
