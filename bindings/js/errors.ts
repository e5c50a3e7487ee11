/** Exceptions: one class for each status of the library. */
import {
  nameOf,
  ownMembers,
  ownWords,
  statusName,
  systemCode,
  type OwnMembers,
} from "./naming.js";
import type { Report } from "./reports.js";

/** Codes like those of Node, by status; others are ERR_RUNCIBLE_NAME. */
const codes: Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: "ERR_INVALID_ARG_VALUE",
  OUT_OF_MEMORY: "ERR_MEMORY_ALLOCATION_FAILED",
  NOT_FOUND: "ENOENT",
  IO: "EIO",
  TIMEOUT: "ETIMEDOUT",
  CANCELLED: "ABORT_ERR",
  DEADLINE: "ETIMEDOUT",
  BUSY: "EBUSY",
};

/** Returns the code of an error; `number` is the system's, of system errors. */
function codeOf(status: number, number: number): string {
  const name = statusName(status);
  return systemCode(number) ?? codes[name] ?? `ERR_RUNCIBLE_${name}`;
}

const isInstance = Function.prototype[Symbol.hasInstance];

export interface RuncibleError extends OwnMembers {}

/**
 * An error that the library reports. The message names the values concerned.
 *
 * All classes here are instances of it, including InvalidArgumentError, which is a
 * RangeError.
 */
export class RuncibleError extends Error {
  static readonly status: number = 0;

  /** The number of the status. */
  readonly status: number;
  /** The code, like those of Node's own errors: "ENOENT", "ERR_INVALID_ARG_VALUE", ... */
  readonly code: string;
  /** The report of a generation that failed. */
  report?: Report;
  /** The milliseconds after which to try again, if that is known. */
  retryAfter?: number;

  constructor(message: string, status?: number, number = 0) {
    super(message);
    this.status = status ?? new.target.status;
    this.code = codeOf(this.status, number);
    Object.assign(this, ownMembers(number));
  }

  override get name(): string {
    return nameOf(this.constructor as typeof RuncibleError);
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
  /** The report of a generation that failed. */
  report?: Report;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status ?? InvalidArgumentError.status;
    this.code = codeOf(this.status, 0);
  }

  override get name(): string {
    return nameOf(this.constructor as typeof InvalidArgumentError);
  }
}

// :api: errors

type Kind = new (m: string, status: number, number: number) => RuncibleError;

const classes = new Map<number, Kind>(
  [
    // :api: classes
  ].map((kind) => [kind.status, kind]),
);

/** The exception of a status; RuncibleError itself for an unknown status. */
export function ofStatus(
  status: number,
  message: string,
  number = 0,
  retryAfter = -1,
): RuncibleError {
  const kind = classes.get(status) ?? RuncibleError;
  const error = new kind(ownWords(message), status, number);
  if (retryAfter >= 0) error.retryAfter = retryAfter;
  return error;
}
