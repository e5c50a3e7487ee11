/** Openings and loads that tell how far they are, and end at a signal. */
import type { Progress } from "./protocol.js";

export interface ProgressOptions {
  /**
   * Told the fraction done, 0 to 1, some times in a second, and of what: of a
   * model that is fetched, the bytes.
   */
  progress?: ((fraction: number, of: Progress) => void) | undefined;
  /** Ends it; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options that are not the library's. */
export const progressOptions = ["progress", "signal"];
