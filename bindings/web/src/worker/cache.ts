/**
 * Files that were fetched, in the origin's private file system: NAME.gguf contains the
 * bytes and NAME.json their description, where NAME is derived from the URL. A partial
 * download is resumed if the server still has the same file.
 */
import { fetchInto, type Kept, type Sink } from "./fetching.js";
import { sha256, Sha256 } from "./sha256.js";
import { status, StatusError } from "./status.js";

const FOLDER = "runcible";
/** Bytes that are read at once to compute a sum. */
const PIECE = 1 << 24;

/** The description of a file. */
interface Known {
  url: string;
  /** The validator of the stored bytes, a strong ETag or a date; "" if none. */
  validator: string;
  /** The size of the file in bytes; 0: unknown. */
  total: number;
  complete: boolean;
  /** The sum that it was checked against, or "". */
  sha256: string;
}

export interface Fetching {
  readonly signal: AbortSignal;
  /** Receives the bytes stored, and the size; 0: unknown. */
  progress(bytes: number, total: number): void;
}

export class Cache {
  /** Returns a file from the cache, after fetching the missing part. */
  async take(url: string, sum: string, fetching: Fetching): Promise<Blob> {
    const folder = await this.#folder();
    if (folder === undefined) return inMemory(url, sum, fetching);
    const name = nameOf(url);
    return locked(name, fetching.signal, async () => {
      const known = await this.#known(folder, name);
      if (known?.complete && (sum === "" || known.sha256 === sum)) {
        const file = await fileOf(folder, `${name}.gguf`);
        if (file !== undefined && file.size === known.total) {
          fetching.progress(file.size, file.size);
          return file;
        }
      }
      if (known?.complete && sum !== "" && known.sha256 === "") {
        const file = await this.#checked(folder, name, known, sum);
        if (file !== undefined) return file;
      } else if (known?.complete) {
        await this.#remove(folder, name);
      }
      return this.#fetch(folder, name, url, sum, fetching);
    });
  }

  async list(): Promise<object[]> {
    const folder = await this.#folder();
    if (folder === undefined) return [];
    const found: object[] = [];
    for await (const [entry] of entriesOf(folder)) {
      if (!entry.endsWith(".json")) continue;
      const name = entry.slice(0, -".json".length);
      const known = await this.#known(folder, name);
      const file = await fileOf(folder, `${name}.gguf`);
      if (known === undefined || file === undefined) continue;
      const { url, total, complete, sha256: sum } = known;
      found.push({ url, bytes: file.size, total, complete, sha256: sum });
    }
    return found;
  }

  async remove(url: string): Promise<void> {
    const folder = await this.#folder();
    const name = nameOf(url);
    if (folder === undefined || !(await this.#known(folder, name))) {
      throw new StatusError(status.NOT_FOUND, `${url} is not in the cache`);
    }
    await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock === null) {
        throw new StatusError(status.BUSY, `${url} is being fetched`);
      }
      await this.#remove(folder, name);
    });
  }

  /** Returns undefined if a page has no such storage, as in some private windows. */
  async #folder(): Promise<FileSystemDirectoryHandle | undefined> {
    try {
      const root = await navigator.storage.getDirectory();
      return await root.getDirectoryHandle(FOLDER, { create: true });
    } catch {
      return undefined;
    }
  }

  async #known(
    folder: FileSystemDirectoryHandle,
    name: string,
  ): Promise<Known | undefined> {
    const file = await fileOf(folder, `${name}.json`);
    try {
      return file && (JSON.parse(await file.text()) as Known);
    } catch {
      return undefined; // it was being written when the page was left
    }
  }

  async #remember(
    folder: FileSystemDirectoryHandle,
    name: string,
    known: Known,
  ): Promise<void> {
    const handle = await folder.getFileHandle(`${name}.json`, { create: true });
    const access = await handle.createSyncAccessHandle();
    try {
      access.truncate(0);
      access.write(new TextEncoder().encode(JSON.stringify(known)));
      access.flush();
    } finally {
      access.close();
    }
  }

  async #remove(
    folder: FileSystemDirectoryHandle,
    name: string,
  ): Promise<void> {
    for (const each of [`${name}.json`, `${name}.gguf`]) {
      await folder.removeEntry(each).catch(() => {});
    }
  }

  /** Checks a stored file against a sum; returns undefined if it has another. */
  async #checked(
    folder: FileSystemDirectoryHandle,
    name: string,
    known: Known,
    sum: string,
  ): Promise<Blob | undefined> {
    const file = await fileOf(folder, `${name}.gguf`);
    if (file !== undefined && (await sumOf(file)) === sum) {
      await this.#remember(folder, name, { ...known, sha256: sum });
      return file;
    }
    await this.#remove(folder, name);
    return undefined;
  }

  async #fetch(
    folder: FileSystemDirectoryHandle,
    name: string,
    url: string,
    sum: string,
    fetching: Fetching,
  ): Promise<Blob> {
    const handle = await folder.getFileHandle(`${name}.gguf`, { create: true });
    const access = await handle.createSyncAccessHandle();
    let hash = sum === "" ? undefined : new Sha256();
    const known: Known = { url, validator: "", total: 0, complete: false, sha256: "" };
    const before = await this.#known(folder, name);
    try {
      const sink: Sink = {
        kept: () => keptOf(access, before, hash),
        begin: async (at, kept) => {
          Object.assign(known, kept);
          access.truncate(at);
          if (at === 0 && hash !== undefined) hash = new Sha256();
          await this.#remember(folder, name, known);
        },
        write(bytes, at) {
          hash?.update(bytes);
          if (access.write(bytes, { at }) !== bytes.length) {
            throw new DOMException("a write was cut short", "QuotaExceededError");
          }
        },
      };
      known.total = await fetchInto(url, sink, fetching);
      access.flush();
    } catch (error) {
      throw await explained(error, url);
    } finally {
      access.close();
    }
    known.complete = true;
    if (hash !== undefined) {
      known.sha256 = hash.digest();
      if (known.sha256 !== sum) {
        await this.#remove(folder, name);
        throw wrongSum(url, known.sha256, sum);
      }
    }
    await this.#remember(folder, name, known);
    return handle.getFile();
  }
}

/** Returns the stored part of a partial download, and adds it to the sum. */
function keptOf(
  access: FileSystemSyncAccessHandle,
  before: Known | undefined,
  hash: Sha256 | undefined,
): Kept & { bytes: number } {
  const bytes = access.getSize();
  const { validator = "", total = 0, complete = true } = before ?? {};
  if (complete || validator === "") return { validator: "", total: 0, bytes: 0 };
  if (hash !== undefined) {
    const piece = new Uint8Array(Math.min(PIECE, bytes));
    for (let at = 0; at < bytes; ) {
      const read = access.read(piece, { at });
      if (read === 0) break;
      hash.update(piece.subarray(0, read));
      at += read;
    }
  }
  return { validator, total, bytes };
}

/** Fetches without storage, to a Blob, which the browser may put on a disk. */
export async function inMemory(
  url: string,
  sum: string,
  fetching: Fetching,
): Promise<Blob> {
  let hash = sum === "" ? undefined : new Sha256();
  let whole = new Blob();
  let pieces: BlobPart[] = [];
  let waiting = 0;
  const sink: Sink = {
    kept: () => ({ validator: "", total: 0, bytes: 0 }),
    begin: async (at) => {
      if (at > 0) return;
      whole = new Blob();
      pieces = [];
      waiting = 0;
      if (hash !== undefined) hash = new Sha256();
    },
    write(bytes) {
      hash?.update(bytes);
      pieces.push(bytes);
      waiting += bytes.length;
      if (waiting < PIECE) return;
      whole = new Blob([whole, ...pieces]);
      pieces = [];
      waiting = 0;
    },
  };
  await fetchInto(url, sink, fetching);
  const found = hash?.digest() ?? "";
  if (found !== sum) throw wrongSum(url, found, sum);
  return new Blob([whole, ...pieces]);
}

function wrongSum(url: string, found: string, wanted: string): StatusError {
  return new StatusError(
    status.FORMAT,
    `${url} has the SHA-256 ${found}, not ${wanted}: the server has another ` +
      "file, or it was damaged on the way; nothing of it was kept",
  );
}

/** Explains a failure of the storage, with its usage. */
async function explained(error: unknown, url: string): Promise<unknown> {
  const full =
    error instanceof DOMException && error.name === "QuotaExceededError";
  if (!full) return error;
  const { usage = 0, quota = 0 } = await navigator.storage.estimate();
  return new StatusError(
    status.IO,
    `${url} has no room in the browser's storage, of which ${usage} of ` +
      `${quota} bytes are used: remove models by removeCachedModel, or load it ` +
      "with cache: false",
  );
}

async function fileOf(
  folder: FileSystemDirectoryHandle,
  name: string,
): Promise<File | undefined> {
  try {
    return await (await folder.getFileHandle(name)).getFile();
  } catch {
    return undefined;
  }
}

const entriesOf = (folder: FileSystemDirectoryHandle) =>
  folder as unknown as AsyncIterable<[string, FileSystemHandle]>;

const nameOf = (url: string) => sha256(url).slice(0, 40);

/** Lets one tab at a time fetch a file; the others then find it stored. */
async function locked<T>(
  name: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  return navigator.locks.request(name, { signal }, work) as Promise<T>;
}

async function sumOf(file: Blob): Promise<string> {
  const hash = new Sha256();
  for (let at = 0; at < file.size; at += PIECE) {
    const piece = await file.slice(at, at + PIECE).arrayBuffer();
    hash.update(new Uint8Array(piece));
  }
  return hash.digest();
}
