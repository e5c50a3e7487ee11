/** Openings and loads that tell how far they are, and end at a signal. */
import { native } from "./native";

export interface ProgressOptions {
  /** Told the fraction done, 0 to 1, some times in a second. */
  progress?: ((fraction: number) => void) | undefined;
  /** Ends it; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

const PROGRESS_MS = 50;

/** Options that are not the library's. */
export const progressOptions = { progress: () => {}, signal: () => {} };

/** What `start` promises, which it starts with the state that it is given. */
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
  // What it throws in the event loop is the failure of the call.
  let problem: { error: unknown } | undefined;
  const tell = () => {
    if (problem !== undefined) return;
    try {
      progress?.(state.fraction());
    } catch (error) {
      problem = { error };
      stop();
    }
  };
  const timer = progress && setInterval(tell, PROGRESS_MS);
  try {
    const made = await start(state);
    tell();
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
