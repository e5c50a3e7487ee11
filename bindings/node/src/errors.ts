/** Exceptions: one class for each status of the library. */
import { native } from "./native";
import type { Report } from "./generation";

/** What the library reports. The message names the values concerned. */
export class RuncibleError extends Error {
  static readonly status: number = 0;

  /** The number of the status. */
  readonly status: number;
  /** Its name, "RC_E_FORMAT". */
  readonly code: string;
  /** What had been done when a generation failed. */
  report?: Report;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status ?? new.target.status;
    this.code = native.status_name(this.status);
  }

  override get name(): string {
    return this.constructor.name;
  }
}

/** @c RC_E_INVALID_ARGUMENT */
export class InvalidArgumentError extends RuncibleError {
  static override readonly status: number = -1;
}

/** @c RC_E_OUT_OF_MEMORY */
export class OutOfMemoryError extends RuncibleError {
  static override readonly status: number = -2;
}

/** @c RC_E_NOT_FOUND */
export class NotFoundError extends RuncibleError {
  static override readonly status: number = -3;
}

/** @c RC_E_IO */
export class FileError extends RuncibleError {
  static override readonly status: number = -4;
}

/** @c RC_E_FORMAT */
export class FormatError extends RuncibleError {
  static override readonly status: number = -5;
}

/** @c RC_E_UNSUPPORTED */
export class UnsupportedError extends RuncibleError {
  static override readonly status: number = -6;
}

/** @c RC_E_BACKEND_UNAVAILABLE */
export class BackendUnavailableError extends RuncibleError {
  static override readonly status: number = -7;
}

/** @c RC_E_DEVICE */
export class DeviceError extends RuncibleError {
  static override readonly status: number = -8;
}

/** @c RC_E_DEVICE_LOST */
export class DeviceLostError extends DeviceError {
  static override readonly status: number = -9;
}

/** @c RC_E_DEVICE_MEMORY */
export class DeviceMemoryError extends RuncibleError {
  static override readonly status: number = -10;
}

/** @c RC_E_TIMEOUT */
export class TimeoutError extends RuncibleError {
  static override readonly status: number = -11;
}

/** @c RC_E_CANCELLED */
export class CancelledError extends RuncibleError {
  static override readonly status: number = -12;
}

/** @c RC_E_DEADLINE */
export class DeadlineError extends RuncibleError {
  static override readonly status: number = -13;
}

/** @c RC_E_CONTEXT_FULL */
export class ContextFullError extends RuncibleError {
  static override readonly status: number = -14;
}

/** @c RC_E_BUSY */
export class BusyError extends RuncibleError {
  static override readonly status: number = -15;
}

/** @c RC_E_QUOTA */
export class QuotaError extends RuncibleError {
  static override readonly status: number = -16;
}

/** @c RC_E_CLOSED */
export class ClosedError extends RuncibleError {
  static override readonly status: number = -17;
}

/** @c RC_E_ABI */
export class AbiError extends RuncibleError {
  static override readonly status: number = -18;
}

/** @c RC_E_INTERNAL */
export class InternalError extends RuncibleError {
  static override readonly status: number = -19;
}

const classes = new Map(
  [
    InvalidArgumentError,
    OutOfMemoryError,
    NotFoundError,
    FileError,
    FormatError,
    UnsupportedError,
    BackendUnavailableError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    TimeoutError,
    CancelledError,
    DeadlineError,
    ContextFullError,
    BusyError,
    QuotaError,
    ClosedError,
    AbiError,
    InternalError,
  ].map((kind) => [kind.status, kind]),
);

/** The exception of a status; of one that is not known, RuncibleError itself. */
export function ofStatus(status: number, message: string): RuncibleError {
  const kind = classes.get(status) ?? RuncibleError;
  return new kind(message, status);
}
