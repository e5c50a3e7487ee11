/** Failures, in the form from which the page makes exceptions. */
import type { Failure } from "../protocol.js";

export const status = {
  INVALID_ARGUMENT: -1,
  OUT_OF_MEMORY: -2,
  NOT_FOUND: -3,
  IO: -4,
  FORMAT: -5,
  UNSUPPORTED: -6,
  CANCELLED: -12,
  BUSY: -15,
  CLOSED: -17,
  INTERNAL: -19,
} as const;

export class StatusError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The folders of models' files, which are internal and removed from messages. */
const folders = /\/models\/\d+\//g;

export function failureOf(error: unknown): Failure {
  if (error instanceof StatusError) {
    const message = error.message.replace(folders, "");
    return { status: error.status, message };
  }
  if (error instanceof DOMException && error.name === "AbortError") {
    return { status: status.CANCELLED, message: "cancelled by the caller" };
  }
  if (error instanceof RangeError && /alloc|memory/i.test(error.message)) {
    return { status: status.OUT_OF_MEMORY, message: error.message };
  }
  const what = error instanceof Error ? (error.stack ?? error.message) : error;
  return { status: status.INTERNAL, message: String(what) };
}
