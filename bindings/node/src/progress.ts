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
  const tell = () => progress?.(state.fraction());
  const timer = progress && setInterval(tell, PROGRESS_MS);
  try {
    const made = await start(state);
    tell();
    return made;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", stop);
  }
}
