/** Exceptions: one class for each status of the library. */
import { optionNames, statusNames } from "./members.js";
import type { Report } from "./reports.js";

/** Codes in the manner of Node, by the statuses; others are ERR_RUNCIBLE_NAME. */
const codes: Readonly<Record<string, string>> = {
  RC_E_INVALID_ARGUMENT: "ERR_INVALID_ARG_VALUE",
  RC_E_OUT_OF_MEMORY: "ERR_MEMORY_ALLOCATION_FAILED",
  RC_E_NOT_FOUND: "ENOENT",
  RC_E_IO: "EIO",
  RC_E_TIMEOUT: "ETIMEDOUT",
  RC_E_CANCELLED: "ABORT_ERR",
  RC_E_DEADLINE: "ETIMEDOUT",
  RC_E_BUSY: "EBUSY",
};

function codeOf(status: number): string {
  const name = statusNames[status] ?? "RC_E_UNKNOWN";
  return codes[name] ?? name.replace(/^RC_E_/, "ERR_RUNCIBLE_");
}

/** Of a class, also where a bundler has given it another name. */
function nameOf(status: number): string {
  const name = statusNames[status];
  if (name === undefined) return "RuncibleError";
  if (name === "RC_E_IO") return "FileError";
  const words = name.slice("RC_E_".length).toLowerCase().split("_");
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("") + "Error";
}

const isInstance = Function.prototype[Symbol.hasInstance];

/**
 * What the library reports. The message names the values concerned.
 *
 * All classes here are instances of it, InvalidArgumentError too, which is a
 * RangeError.
 */
export class RuncibleError extends Error {
  static readonly status: number = 0;

  /** The number of the status. */
  readonly status: number;
  /** As of Node's own errors: "ENOENT", "ERR_INVALID_ARG_VALUE", ... */
  readonly code: string;
  /** What had been done when a generation failed. */
  report?: Report;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status ?? new.target.status;
    this.code = codeOf(this.status);
  }

  override get name(): string {
    return nameOf((this.constructor as typeof RuncibleError).status);
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return (
      isInstance.call(this, value) ||
      (this === RuncibleError && isInstance.call(InvalidArgumentError, value))
    );
  }
}

/** @c RC_E_INVALID_ARGUMENT */
export class InvalidArgumentError extends RangeError {
  static readonly status: number = -1;

  /** The number of the status. */
  readonly status: number;
  /** "ERR_INVALID_ARG_VALUE". */
  readonly code: string;
  /** What had been done when a generation failed. */
  report?: Report;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status ?? InvalidArgumentError.status;
    this.code = codeOf(this.status);
  }

  override get name(): string {
    return "InvalidArgumentError";
  }
}

// :api: errors

type Kind = new (message: string, status: number) => RuncibleError;

const classes = new Map<number, Kind>(
  [
    // :api: classes
  ].map((kind) => [kind.status, kind]),
);

/** The exception of a status; of one that is not known, RuncibleError itself. */
export function ofStatus(status: number, message: string): RuncibleError {
  const kind = classes.get(status) ?? RuncibleError;
  return new kind(ownWords(message), status);
}

/** Text and tokens are one argument here, and so are biases and their tokens. */
const together: Readonly<Record<string, string>> = {
  logit_bias_tokens: "logit_bias",
  prompt_tokens: "prompt",
};

/**
 * A message of the library, which names options as C does, "options->top_k", with
 * the names that they have here.
 */
function ownWords(message: string): string {
  const camel = (name: string) =>
    (together[name] ?? name).replace(/_(.)/g, (_, letter: string) =>
      letter.toUpperCase(),
    );
  return message
    .replace(/^\w+(?=\.\w)/, (name) =>
      name.includes("_") && optionNames.has(name) ? camel(name) : name,
    )
    .replace(/\boptions->(\w+)/g, (_, name: string) => camel(name))
    .replace(
      /(^|[^\w./"'>-])(\w+)(?![\w"'/]|\.\w)/g,
      (whole, before: string, name: string, at: number) => {
        const meant = name.includes("_") || (at === 0 && before === "");
        return meant && optionNames.has(name) ? before + camel(name) : whole;
      },
    );
}
