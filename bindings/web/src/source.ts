/** The source of a model: a URL, files, bytes, or the package. */
import { InvalidArgumentError } from "./errors.js";
import { shown } from "./handle.js";
import type { Source } from "./protocol.js";

/**
 * "builtin:NAME", a URL (relative to the page), a File or Blob, bytes, or all files of
 * a model that was split, in any order. If a URL ends in "-00001-of-0000N.gguf", all N
 * files are fetched.
 */
export type ModelSource =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | readonly File[];

export interface SourceOptions {
  /** The name in messages for a model from bytes, or from a Blob without a name. */
  name?: string | undefined;
  /** The URL of builtin:NAME, if it is not next to the package. */
  builtinUrl?: string | URL | undefined;
  /**
   * The SHA-256 of a downloaded file, 64 hexadecimal digits, or of each of several. A
   * file with another sum is a FormatError, and is not kept.
   */
  sha256?: string | readonly string[] | undefined;
  /** false: downloads are not kept for the next time. */
  cache?: boolean | undefined;
}

export const sourceOptions = ["name", "builtinUrl", "sha256", "cache"];

/** Returns the URLs of all parts of a model that was split, or the only URL. */
function partsOf(url: URL): string[] {
  const found = /-(\d{5})-of-(\d{5})\.gguf$/.exec(url.pathname);
  if (found === null) return [url.href];
  const count = Number(found[2]);
  if (count < 1) {
    throw new InvalidArgumentError(`${url.href} names no part of a model`);
  }
  return Array.from({ length: count }, (_, i) => {
    const part = new URL(url.href);
    const number = String(i + 1).padStart(5, "0");
    part.pathname = part.pathname.replace(
      /-\d{5}(-of-\d{5}\.gguf)$/,
      `-${number}$1`,
    );
    return part.href;
  });
}

function hashesOf(given: string | readonly string[] | undefined, count: number) {
  if (given === undefined) return [];
  const hashes = typeof given === "string" ? [given] : [...given];
  if (hashes.length !== count) {
    throw new InvalidArgumentError(
      `sha256 has ${hashes.length} sums, but the model has ${count} files`,
    );
  }
  for (const each of hashes) {
    if (typeof each !== "string" || !/^[0-9a-f]{64}$/i.test(each)) {
      throw new InvalidArgumentError(
        `sha256 must be 64 hexadecimal digits, not ${shown(each)}`,
      );
    }
  }
  return hashes.map((each) => each.toLowerCase());
}

export function sourceOf(given: ModelSource, options: SourceOptions): Source {
  const { name = "memory.gguf", builtinUrl } = options;
  if (typeof given === "string" && given.startsWith("builtin:")) {
    const from = builtinUrl && new URL(builtinUrl, document.baseURI).href;
    return { builtin: given.slice("builtin:".length), from: from || undefined };
  }
  if (typeof given === "string" || given instanceof URL) {
    let url;
    try {
      url = new URL(given, globalThis.document?.baseURI ?? location.href);
    } catch {
      throw new InvalidArgumentError(`${shown(given)} is not a URL of a model`);
    }
    if (!/^(https?|blob|data):$/.test(url.protocol)) {
      throw new InvalidArgumentError(
        `a page cannot fetch ${url.href}: it takes https:, http: or blob:`,
      );
    }
    const urls = partsOf(url);
    return {
      urls,
      hashes: hashesOf(options.sha256, urls.length),
      cache: options.cache ?? true,
    };
  }
  if (Array.isArray(given)) {
    const files = (given as readonly File[]).map((blob) => {
      if (blob instanceof File) return { name: blob.name, blob };
      throw new TypeError(`a list of files must be of File, not ${shown(blob)}`);
    });
    if (files.length > 0) return { files };
    throw new InvalidArgumentError("the list of a model's files is empty");
  }
  if (given instanceof Blob) {
    const own = given instanceof File ? given.name : name;
    return { files: [{ name: own, blob: given }] };
  }
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) {
    return { files: [{ name, blob: new Blob([given as BlobPart]) }] };
  }
  throw new TypeError(
    "a model must be a URL, a File, a Blob, bytes or a list of File, not " +
      shown(given),
  );
}
