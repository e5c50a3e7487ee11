/**
 * Files of models, which the library opens by a path: their bytes stay in a File, the
 * cache or a Blob, and are read when they are needed.
 */
import type { Progress, Source } from "../protocol.js";
import { inMemory, type Cache, type Fetching } from "./cache.js";
import { builtins, type Module } from "./module.js";
import { status, StatusError } from "./status.js";

/** The folder in which the library looks for builtin:NAME. */
const BUILTIN_FOLDER = "/usr/local/share/runcible";
const FOLDER = "/models";
/** The maximum number of bytes read from a Blob at once. */
const PIECE = 1 << 26;

export interface Taking {
  readonly signal: AbortSignal;
  progress(fraction: number, of: Progress): void;
}

/** A file, or the first of several, until it is released. */
export interface Taken {
  readonly path: string;
  /** Releases the file; no model needs it any more. */
  readonly leave: () => void;
}

export class Files {
  readonly #module: Module;
  readonly #cache: Cache;
  readonly #reader = new FileReaderSync();
  readonly #builtins = new Map<string, Promise<void>>();
  /** The models that use each fetched file, by its URLs. */
  readonly #fetched = new Map<string, { path: string; models: number }>();
  #last = 0;

  constructor(module: Module, cache: Cache) {
    this.#module = module;
    this.#cache = cache;
    module.FS.mkdirTree(BUILTIN_FOLDER);
    module.FS.mkdirTree(FOLDER);
  }

  async take(source: Source, taking: Taking): Promise<Taken> {
    if ("builtin" in source) {
      await this.#takeBuiltin(source.builtin, source.from, taking);
      return { path: `builtin:${source.builtin}`, leave: () => {} };
    }
    if ("files" in source) return this.#place(source.files);
    // Models of one file share their weights, so it has one path.
    const key = JSON.stringify([source.urls, source.hashes]);
    let fetched = this.#fetched.get(key);
    if (fetched === undefined) {
      const blobs = await this.#fetch(source, taking);
      const { path } = this.#place(blobs);
      fetched = this.#fetched.get(key) ?? { path, models: 0 };
      if (fetched.path !== path) this.#drop(path);
      this.#fetched.set(key, fetched);
    }
    const { path } = fetched;
    ++fetched.models;
    return {
      path,
      leave: () => {
        if (--fetched.models > 0) return;
        this.#fetched.delete(key);
        this.#drop(path);
      },
    };
  }

  async #takeBuiltin(
    name: string,
    from: string | undefined,
    { signal, progress }: Taking,
  ): Promise<void> {
    const url = from ?? builtins[name]?.href;
    // The library reports an invalid name, or a model that does not exist.
    if (url === undefined || !/^[\w.-]+$/.test(name)) return;
    const fetching: Fetching = {
      signal,
      progress: (bytes, total) =>
        progress(total && bytes / total, { stage: "fetch", bytes, total }),
    };
    let taken = this.#builtins.get(name);
    if (taken === undefined) {
      taken = inMemory(url, "", fetching).then((blob) =>
        this.#add(BUILTIN_FOLDER, `${name}.gguf`, blob),
      );
      this.#builtins.set(name, taken);
      taken.catch(() => this.#builtins.delete(name));
    }
    await taken;
  }

  async #fetch(
    source: Extract<Source, { urls: readonly string[] }>,
    { signal, progress }: Taking,
  ): Promise<{ name: string; blob: Blob }[]> {
    const { urls, hashes, cache } = source;
    const parts: { name: string; blob: Blob }[] = [];
    for (const [i, url] of urls.entries()) {
      const fetching: Fetching = {
        signal,
        progress: (bytes, total) =>
          progress((i + (total && bytes / total)) / urls.length, {
            stage: "fetch",
            bytes,
            total,
          }),
      };
      const sum = hashes[i] ?? "";
      const blob = cache
        ? await this.#cache.take(url, sum, fetching)
        : await inMemory(url, sum, fetching);
      const name = decodeURIComponent(new URL(url).pathname.split("/").at(-1)!);
      parts.push({ name, blob });
    }
    return parts;
  }

  /** Places files into a separate folder. */
  #place(files: readonly { name: string; blob: Blob }[]): Taken {
    const folder = `${FOLDER}/${++this.#last}`;
    this.#module.FS.mkdir(folder);
    const placed: string[] = [];
    for (const { name, blob } of files) {
      // The name appears in messages, and its number orders a split model.
      const own = name.replace(/[/\0]/g, "_").replace(/^\.*$/, "model.gguf");
      if (placed.includes(own)) {
        throw new StatusError(
          status.INVALID_ARGUMENT,
          `two files of the model are called ${own}`,
        );
      }
      this.#add(folder, own, blob);
      placed.push(own);
    }
    placed.sort();
    const path = `${folder}/${placed[0]}`;
    return { path, leave: () => this.#drop(path) };
  }

  #drop(path: string): void {
    const { FS } = this.#module;
    const folder = path.slice(0, path.lastIndexOf("/"));
    for (const name of FS.readdir(folder)) {
      if (name !== "." && name !== "..") FS.unlink(`${folder}/${name}`);
    }
    FS.rmdir(folder);
  }

  /** Adds a file with the bytes of a Blob. */
  #add(folder: string, name: string, blob: Blob): void {
    const { FS } = this.#module;
    const node = FS.create(`${folder}/${name}`, 0o444);
    Object.defineProperty(node, "usedBytes", { value: blob.size });
    node.stream_ops = {
      llseek: node.stream_ops.llseek,
      read: (
        _: unknown,
        memory: Int8Array,
        offset: number,
        length: number,
        position: number,
      ) => this.#read(blob, memory, offset, length, position),
    };
  }

  #read(
    blob: Blob,
    memory: Int8Array,
    offset: number,
    length: number,
    position: number,
  ): number {
    const size = Math.max(0, Math.min(length, blob.size - position, PIECE));
    if (size === 0) return 0;
    let bytes;
    try {
      const piece = blob.slice(position, position + size);
      bytes = new Uint8Array(this.#reader.readAsArrayBuffer(piece));
    } catch {
      // The file was changed or removed since it was chosen.
      throw new this.#module.FS.ErrnoError(EIO);
    }
    new Uint8Array(memory.buffer).set(bytes, offset >>> 0);
    return bytes.length;
  }
}

/** The error number of WASI, which Emscripten uses. */
const EIO = 29;
