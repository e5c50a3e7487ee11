/** Openings and loads that report their progress, and end at a signal. */
import { native } from "./native";

export interface ProgressOptions {
  /** Receives the fraction done, 0 to 1, several times a second. */
  progress?: ((fraction: number) => void) | undefined;
  /** Ends it; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

const PROGRESS_MS = 50;

/** Options that the library does not have. */
export const progressOptions = { progress: () => {}, signal: () => {} };

/** Starts work with a state for progress and abort; returns its promise. */
export async function withProgress<T>(
  { progress, signal }: ProgressOptions,
  start: (state: any) => Promise<T>,
): Promise<T> {
  if (progress !== undefined && typeof progress !== "function") {
    throw new TypeError("progress must be a function");
  }
  signal?.throwIfAborted();
  const state = new native.load_state();
  const stop = () => state.cancel();
  signal?.addEventListener("abort", stop);
  // An exception of `progress` in the event loop is the failure of the call.
  let problem: { error: unknown } | undefined;
  const report = () => {
    if (problem !== undefined) return;
    try {
      progress?.(state.fraction());
    } catch (error) {
      problem = { error };
      stop();
    }
  };
  const timer = progress && setInterval(report, PROGRESS_MS);
  try {
    const made = await start(state);
    report();
    if (problem !== undefined) throw problem.error;
    return made;
  } catch (error) {
    if (problem !== undefined) throw problem.error;
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", stop);
  }
}
