/** The worker's access to the library: memory, texts, structs and statuses. */
import { layouts } from "../layouts.js";
import type { Kind } from "../members.js";
import type { Entry } from "../protocol.js";
import type { Module } from "./module.js";
import { StatusError, status as statuses } from "./status.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

type Value = number | bigint | string | null;

export class Library {
  readonly module: Module;
  #view = new DataView(new ArrayBuffer(0));
  #bytes = new Uint8Array(0);

  constructor(module: Module) {
    this.module = module;
  }

  // ---- Memory, which grows: a view is valid until the library is called.

  get view(): DataView {
    const { buffer } = this.module.wasmMemory;
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer);
    return this.#view;
  }

  get bytes(): Uint8Array {
    const { buffer } = this.module.wasmMemory;
    if (this.#bytes.buffer !== buffer) this.#bytes = new Uint8Array(buffer);
    return this.#bytes;
  }

  pointer(at: number): number {
    return this.view.getUint32(at, true);
  }

  /** Returns a copy. */
  copy(at: number, size: number): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(at, at + size) as Uint8Array<ArrayBuffer>;
  }

  int32s(at: number, count: number): Int32Array {
    return new Int32Array(this.copy(at, 4 * count).buffer);
  }

  floats(at: number, count: number): Float32Array {
    return new Float32Array(this.copy(at, 4 * count).buffer);
  }

  text(at: number, size?: number): string {
    if (at === 0) return "";
    const { bytes } = this;
    const length = size ?? bytes.indexOf(0, at) - at;
    return decoder.decode(this.copy(at, length));
  }

  // ---- Calls

  call(name: string, ...args: readonly (number | bigint)[]): any {
    return (this.module as any)[`_${name}`](...args);
  }

  /** Calls a function that returns a status. */
  check(name: string, ...args: readonly (number | bigint)[]): void {
    const status: number = this.call(name, ...args);
    if (status !== 0) {
      throw new StatusError(status, this.text(this.call("rc_error_message")));
    }
  }

  /** Runs work with memory that is freed afterwards. */
  scoped<T>(work: (scope: Scope) => T): T {
    const scope = new Scope(this);
    try {
      return work(scope);
    } finally {
      scope.free();
    }
  }

  /** Returns a member of a struct in memory; pointers other than texts stay numbers. */
  member(struct: string, at: number, name: string): Value {
    const [offset, kind] = layouts[struct]!.members[name]!;
    const { view } = this;
    const place = at + offset;
    switch (kind) {
      case "int32":
        return view.getInt32(place, true);
      case "float":
        return view.getFloat32(place, true);
      case "int64":
        return view.getBigInt64(place, true);
      case "uint64":
        return view.getBigUint64(place, true);
      case "text": {
        const text = view.getUint32(place, true);
        return text === 0 ? null : this.text(text);
      }
      default:
        return view.getUint32(place, true);
    }
  }
}

/** Memory of the library, for the duration of a call. */
export class Scope {
  readonly #library: Library;
  readonly #made: number[] = [];

  constructor(library: Library) {
    this.#library = library;
  }

  /** Allocates zeroed memory. */
  room(size: number): number {
    const at = this.#library.module._malloc(Math.max(1, size));
    if (at === 0) {
      throw new StatusError(
        statuses.OUT_OF_MEMORY,
        `${size} bytes cannot be allocated: the memory of WebAssembly is full; ` +
          "close models and sessions that are not needed",
      );
    }
    this.#made.push(at);
    this.#library.bytes.fill(0, at, at + size);
    return at;
  }

  data(given: Uint8Array | Int32Array | Float32Array | Uint32Array): number {
    const at = this.room(given.byteLength);
    const { buffer, byteOffset, byteLength } = given;
    this.#library.bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    return at;
  }

  /** Copies a text, followed by a zero; returns its address and its size in bytes. */
  text(given: string | Uint8Array): [at: number, size: number] {
    const bytes = typeof given === "string" ? encoder.encode(given) : given;
    const at = this.room(bytes.length + 1);
    this.#library.bytes.set(bytes, at);
    return [at, bytes.length];
  }

  /** Copies a text that contains no zero, for functions that take no length. */
  plainText(given: string, name: string): number {
    if (given.includes("\0")) {
      throw new StatusError(
        statuses.INVALID_ARGUMENT,
        `${name} must not have a zero character`,
      );
    }
    return this.text(given)[0];
  }

  texts(given: readonly string[], name: string): number {
    const list = given.map((text) => this.plainText(text, name));
    return this.data(Uint32Array.from(list));
  }

  /** Makes options, or a report to fill, with the library's defaults. */
  struct(name: string, entries: readonly Entry[] = []): number {
    const { size, members } = layouts[name]!;
    const at = this.room(size);
    this.#library.call(`rc_${name}_init`, at, size);
    for (const [member, value] of entries) {
      const [offset, kind] = members[member]!;
      this.set(at + offset, kind, value, member);
    }
    return at;
  }

  set(place: number, kind: Kind, value: Entry[1], name: string): void {
    const given =
      typeof value === "string" ? this.plainText(value, name) : value;
    const { view } = this.#library;
    if (kind === "float") view.setFloat32(place, Number(given), true);
    else if (kind === "int64") view.setBigInt64(place, BigInt(given), true);
    else if (kind === "uint64") view.setBigUint64(place, BigInt(given), true);
    else if (kind === "int32") view.setInt32(place, Number(given), true);
    else view.setUint32(place, Number(given), true);
  }

  free(): void {
    for (const at of this.#made) this.#library.module._free(at);
  }
}
