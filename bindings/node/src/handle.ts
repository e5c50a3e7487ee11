/** What all objects have that stand for a handle of the library. */
import { fileURLToPath } from "node:url";
import { ClosedError } from "./errors";

/** The proxies of SWIG have no types. */
export type Proxy = any;

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

  /** Gives the reference of a proxy back. @internal */
  protected abstract _release(proxy: Proxy): void;

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

/** The handle of an argument of one of the package's classes. */
export function need<T extends Handle>(
  value: T,
  kind: Function & { prototype: T },
  name: string,
): Proxy {
  if (!(value instanceof kind)) {
    throw new TypeError(`${name} must be a ${kind.name}, not ${shown(value)}`);
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

const camel = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());

/**
 * Sets members of an options object of C; undefined leaves the default. What is
 * no member is given to the function of its name in `others`.
 */
export function setOptions(
  options: Proxy,
  given: object | undefined,
  others: Record<string, (value: any) => void> = {},
): Proxy {
  if (given === undefined) return options;
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`options must be an object, not ${shown(given)}`);
  }
  const members = Object.getPrototypeOf(options);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (Object.hasOwn(others, name)) {
      others[name]!(value);
      continue;
    }
    const member = snake(name);
    if (!Object.getOwnPropertyDescriptor(members, member)?.set) {
      throw new TypeError(`there is no option ${name}`);
    }
    options[member] = value;
  }
  return options;
}

/** Members that are yes or no. */
const flags = new Set(["unifiedMemory", "fits", "embedding", "output"]);

/** A report of C as an object: its members, and `given`. */
export function copied<T>(report: Proxy, given: Partial<T> = {}): T {
  const made: Record<string, unknown> = {};
  const members = Object.getOwnPropertyDescriptors(
    Object.getPrototypeOf(report),
  );
  for (const [member, { get }] of Object.entries(members)) {
    if (get === undefined) continue;
    const name = camel(member);
    const value: unknown = report[member];
    made[name] = flags.has(name) ? Boolean(value) : value;
  }
  return Object.freeze(Object.assign(made, given)) as T;
}

/** Of a time; at least 1, as 0 means none to the library. */
export function milliseconds(time: unknown, name: string): number {
  if (typeof time !== "number") {
    throw new TypeError(`${name} must be milliseconds, not ${shown(time)}`);
  }
  if (!(time >= 0 && time <= 1e15)) {
    throw new RangeError(
      `${name} must be from 0 to 1e15 milliseconds, not ${time}`,
    );
  }
  return Math.max(1, Math.round(time));
}
