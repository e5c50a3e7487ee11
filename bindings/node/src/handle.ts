/** What all objects have that stand for a handle of the library. */
import { fileURLToPath } from "node:url";
import { ClosedError } from "./errors";
import { optionText } from "./json";
import { choices, jsons, times } from "./members";
import { chosen, constants, native } from "./native";

/** The proxies of SWIG have no types. */
export type Proxy = any;

/** What the constructor of a handle is given. */
export type Owned = readonly [proxy: Proxy];

/** A path or the URL of a file; "builtin:NAME" is a model in the package. */
export type Path = string | URL;

/**
 * Owns a handle of the library until it is closed or collected.
 *
 * May be closed in any order: what needs another handle keeps it. Calls that
 * use the handle go on to their end.
 */
export abstract class Handle {
  #proxy: Proxy;

  /** @internal */
  protected constructor(proxy: Proxy) {
    this.#proxy = proxy;
  }

  /** What the library calls the handle. @internal */
  protected abstract get _type(): string;

  /** Gives the reference of a proxy back. @internal */
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

  /** Gives the handle back; using it then throws ClosedError. */
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

/** A model to sessions, which are what Model makes and cannot import it. */
export abstract class ModelHandle extends Handle {}

/** A tokenizer to grammars, which generating takes and Tokenizer so imports. */
export abstract class TokenizerHandle extends Handle {}

/** The handle of an argument of one of the package's classes. */
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
 * A copy of an array, so that getters of the caller's run now, and not while the
 * module holds what they might close.
 */
export function plain<T>(list: T): T {
  return Array.isArray(list) ? (Array.from(list) as T) : list;
}

export const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());

/**
 * Options of the library, by the name of their struct, with the members that
 * are given; undefined leaves the default. What is no member is given to the
 * function of its name in `others`.
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

/** An option as the number or text that it is in C. */
function valueOf(name: string, value: unknown): unknown {
  if (Object.hasOwn(times, name)) return milliseconds(value, name);
  if (jsons.has(name)) return optionText(value, name);
  const prefix = choices[name];
  return prefix === undefined ? value : chosen(constants(prefix), name, value);
}

/** Of a time, rounded up; at least 1, as 0 means none to the library. */
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
