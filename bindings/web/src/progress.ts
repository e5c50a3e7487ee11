/** Openings and loads that report their progress, and end at a signal. */
import type { Progress } from "./protocol.js";

export interface ProgressOptions {
  /**
   * Receives the fraction done, 0 to 1, several times a second, and the details: for a
   * model that is fetched, the bytes.
   */
  progress?: ((fraction: number, of: Progress) => void) | undefined;
  /** Ends it; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options that the library does not have. */
export const progressOptions = ["progress", "signal"];
