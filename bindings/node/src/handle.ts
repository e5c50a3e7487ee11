/** The base of all objects that represent a handle of the library. */
import { fileURLToPath } from "node:url";
import { ClosedError } from "./errors";
import { optionText } from "./json";
import { choices, jsons, times } from "./members";
import { chosen, constants, native } from "./native";

/** The proxies of SWIG have no types. */
export type Proxy = any;

/** The arguments of a handle's constructor. */
export type Owned = readonly [proxy: Proxy];

/** A path or the URL of a file; "builtin:NAME" is a model in the package. */
export type Path = string | URL;

/**
 * Owns a handle of the library until it is closed or collected.
 *
 * Handles may be closed in any order: an object that needs another handle keeps it.
 * Calls that use the handle run to their end.
 */
export abstract class Handle {
  #proxy: Proxy;

  /** @internal */
  protected constructor(proxy: Proxy) {
    this.#proxy = proxy;
  }

  /** The library's name of the handle's type. @internal */
  protected abstract get _type(): string;

  /** Releases the reference of a proxy. @internal */
  protected _release(proxy: Proxy): void {
    native[`close_rc_${this._type}`](proxy);
  }

  /** @internal */
  get _handle(): Proxy {
    if (this.#proxy === undefined) {
      throw new ClosedError(`this ${this.constructor.name} is closed`);
    }
    return this.#proxy;
  }

  /** Releases the handle; using it then throws ClosedError. */
  close(): void {
    const proxy = this.#proxy;
    if (proxy === undefined) return;
    this.#proxy = undefined;
    this._release(proxy);
  }

  get closed(): boolean {
    return this.#proxy === undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The base of Model, for sessions: Model imports them, so they cannot import it. */
export abstract class ModelHandle extends Handle {}

/** The base of Tokenizer, for grammars: Tokenizer imports them indirectly. */
export abstract class TokenizerHandle extends Handle {}

/** Returns the handle of an argument of one of the package's classes. */
export function need<T extends Handle>(
  value: T,
  kind: Function & { prototype: T },
  name: string,
): Proxy {
  if (!(value instanceof kind)) {
    const wanted = kind.name.replace("Handle", "");
    throw new TypeError(`${name} must be a ${wanted}, not ${shown(value)}`);
  }
  return value._handle;
}

export function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return `an object of ${value.constructor?.name ?? "no class"}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

export function pathOf(path: Path): string {
  if (path instanceof URL) return fileURLToPath(path);
  if (typeof path === "string") return path;
  throw new TypeError(`path must be a string or a URL, not ${shown(path)}`);
}

/**
 * Copies an array, so that the caller's getters run now, and not while the module
 * uses handles that they might close.
 */
export function plain<T>(list: T): T {
  return Array.isArray(list) ? (Array.from(list) as T) : list;
}

export const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());

/**
 * Makes options of the library, by the name of their struct, with the members that
 * are given; undefined leaves the default. A name that is not a member is passed to
 * the function of that name in `others`.
 */
export function optionsOf(
  struct: string,
  given: object | undefined,
  others: Record<string, (value: any, options: Proxy) => void> = {},
): Proxy {
  const options = new native[struct]();
  if (given === undefined) return options;
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`options must be an object, not ${shown(given)}`);
  }
  const members = Object.getPrototypeOf(options);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (Object.hasOwn(others, name)) {
      others[name]!(value, options);
      continue;
    }
    const member = times[name] ?? snake(name);
    if (!Object.getOwnPropertyDescriptor(members, member)?.set) {
      throw new TypeError(`there is no option ${name}`);
    }
    options[member] = valueOf(name, value);
  }
  return options;
}

/** Returns an option as the number or text that it is in C. */
function valueOf(name: string, value: unknown): unknown {
  if (Object.hasOwn(times, name)) return milliseconds(value, name);
  if (jsons.has(name)) return optionText(value, name);
  const prefix = choices[name];
  return prefix === undefined ? value : chosen(constants(prefix), name, value);
}

/** Rounds a time up; at least 1, because 0 means no limit to the library. */
export function milliseconds(time: unknown, name: string): number {
  if (typeof time !== "number") {
    throw new TypeError(`${name} must be milliseconds, not ${shown(time)}`);
  }
  if (!(time >= 0 && time <= 1e15)) {
    throw new RangeError(
      `${name} must be from 0 to 1e15 milliseconds, not ${time}`,
    );
  }
  return Math.max(1, Math.ceil(time));
}
