/** Exceptions: one class for each status of the library. */
import { getSystemErrorMap } from "node:util";
import { native } from "./native";
import type { Report } from "./reports";

/** Codes in the manner of Node, by the statuses; others are ERR_RUNCIBLE_NAME. */
const codes = new Map<number, string>([
  [native.E_INVALID_ARGUMENT, "ERR_INVALID_ARG_VALUE"],
  [native.E_OUT_OF_MEMORY, "ERR_MEMORY_ALLOCATION_FAILED"],
  [native.E_NOT_FOUND, "ENOENT"],
  [native.E_IO, "EIO"],
  [native.E_TIMEOUT, "ETIMEDOUT"],
  [native.E_CANCELLED, "ABORT_ERR"],
  [native.E_DEADLINE, "ETIMEDOUT"],
  [native.E_BUSY, "EBUSY"],
]);

/** @param number the system's, of an error of the system */
function codeOf(status: number, number: number): string {
  const system = getSystemErrorMap().get(-number);
  if (system !== undefined) return system[0];
  const name: string = native.status_name(status);
  return codes.get(status) ?? name.replace(/^RC_E_/, "ERR_RUNCIBLE_");
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
  /** Of an error of the system, as of Node's own: -2 for ENOENT. */
  readonly errno?: number;
  /** What had been done when a generation failed. */
  report?: Report;

  constructor(message: string, status?: number, number = 0) {
    super(message);
    this.status = status ?? new.target.status;
    this.code = codeOf(this.status, number);
    if (number !== 0) this.errno = -number;
  }

  override get name(): string {
    return this.constructor.name;
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
    this.code = codeOf(this.status, 0);
  }

  override get name(): string {
    return this.constructor.name;
  }
}

// :api: errors

type Kind = new (m: string, status: number, number: number) => RuncibleError;

const classes = new Map<number, Kind>(
  [
    // :api: classes
  ].map((kind) => [kind.status, kind]),
);

/** The exception of a status; of one that is not known, RuncibleError itself. */
export function ofStatus(
  status: number,
  message: string,
  number = 0,
): RuncibleError {
  const kind = classes.get(status) ?? RuncibleError;
  return new kind(message, status, number);
}
