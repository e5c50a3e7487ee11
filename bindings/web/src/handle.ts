/** The base of all objects that represent a handle of the library in the worker. */
import type { CallOptions, Engine } from "./engine.js";
import { ClosedError } from "./errors.js";
import { optionText } from "./json.js";
import { choices, jsons, members, times, type Kind } from "./members.js";
import type { Entry } from "./protocol.js";

/** The arguments of a handle's constructor. */
export type Owned = readonly [engine: Engine, id: number];

/** Releases handles that are no longer referenced. */
const collected = new FinalizationRegistry<() => void>((release) => release());

/**
 * Owns a handle of the library until it is closed or collected.
 *
 * Handles may be closed in any order: an object that needs another handle keeps it.
 * Calls that use the handle run to their end.
 */
export abstract class Handle {
  /** @internal */
  readonly _engine: Engine;
  readonly #id: number;
  #closed = false;

  /** @internal */
  constructor(engine: Engine, id: number) {
    this._engine = engine;
    this.#id = id;
    collected.register(this, this.#release(), this);
  }

  /** The library's name of the handle's type. @internal */
  protected abstract get _type(): string;

  /** @internal */
  get _id(): number {
    if (this.#closed) {
      throw new ClosedError(`this ${className(this)} is closed`);
    }
    return this.#id;
  }

  /** Releases the handle; using it then throws ClosedError. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    collected.unregister(this);
    this.#release()();
  }

  get closed(): boolean {
    return this.#closed;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Asks the worker for something about the handle. @internal */
  async _ask<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return this._engine.call<T>(name, [this._id, ...args]);
  }

  /** @internal */
  async _askWith<T>(
    options: CallOptions,
    name: string,
    ...args: readonly unknown[]
  ): Promise<T> {
    return this._engine.call<T>(name, [this._id, ...args], options);
  }

  /** Returns a function that releases the handle and does not reference this object. */
  #release(): () => void {
    const engine = this._engine;
    const id = this.#id;
    const releasing = `rc_${this._type}_release`;
    return () => engine.post("release", id, releasing);
  }
}

/** Names of classes, also if a bundler renames them. */
const names = new Map<Function, string>();

export function named(kind: Function, name: string): void {
  names.set(kind, name);
}

export const className = (value: object): string =>
  names.get(value.constructor) ?? value.constructor?.name ?? "no class";

/** Returns the handle of an argument of one of the package's classes. */
export function need(value: Handle, kind: string, name: string): number {
  if (!(value instanceof Handle) || className(value) !== kind) {
    throw new TypeError(`${name} must be a ${kind}, not ${shown(value)}`);
  }
  return value._id;
}

export function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return `an object of ${className(value)}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/**
 * Returns the given members of a struct of options, by the name of the struct;
 * undefined leaves the default. Names in `others` are not options of the library.
 */
export function optionsOf(
  struct: string,
  given: object | undefined,
  others: readonly string[] = [],
): Entry[] {
  if (given === undefined) return [];
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`options must be an object, not ${shown(given)}`);
  }
  const known = members[struct]!;
  const entries: Entry[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || others.includes(name)) continue;
    const member =
      times[name] ??
      name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());
    const kind = known[member];
    if (kind === undefined || kind === "pointer") {
      throw new TypeError(`there is no option ${name}`);
    }
    entries.push([member, valueOf(name, value, kind)]);
  }
  return entries;
}

/** Returns an option as the number or text that it is in C. */
function valueOf(
  name: string,
  value: unknown,
  kind: Kind,
): number | bigint | string {
  if (Object.hasOwn(times, name)) return milliseconds(value, name);
  if (jsons.has(name)) return optionText(value, name);
  const numbers = choices[name];
  if (numbers !== undefined && kind === "int32") {
    const number = typeof value === "string" ? numbers[value] : undefined;
    if (number !== undefined) return number;
    throw new TypeError(
      `${name} must be one of ${Object.keys(numbers).join(", ")}, ` +
        `not ${String(value)}`,
    );
  }
  if (kind === "text") {
    if (typeof value === "string") return value;
    throw new TypeError(`${name} must be a string, not ${shown(value)}`);
  }
  return numberOf(name, typeof value === "boolean" ? Number(value) : value, kind);
}

/** The least and the greatest number of a kind. */
const ranges: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  size: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

export function numberOf(
  name: string,
  value: unknown,
  kind: Kind,
): number | bigint {
  if (typeof value !== "number" && typeof value !== "bigint") {
    throw new TypeError(`${name} must be a number, not ${shown(value)}`);
  }
  if (kind === "float") return Number(value);
  const [least, most] = ranges[kind]!;
  if (typeof value === "number" && !Number.isInteger(value)) {
    throw new RangeError(`${name} must be a whole number, not ${value}`);
  }
  const whole = BigInt(value);
  if (whole < least || whole > most) {
    throw new RangeError(
      `${name} must be from ${least} to ${most}, not ${value}`,
    );
  }
  return kind === "int64" || kind === "uint64" ? whole : Number(whole);
}

/** Rounds a time up; at least 1, because 0 means no limit to the library. */
export function milliseconds(time: unknown, name: string): bigint {
  if (typeof time !== "number") {
    throw new TypeError(`${name} must be milliseconds, not ${shown(time)}`);
  }
  if (!(time >= 0 && time <= 1e15)) {
    throw new RangeError(
      `${name} must be from 0 to 1e15 milliseconds, not ${time}`,
    );
  }
  return BigInt(Math.max(1, Math.ceil(time)));
}
