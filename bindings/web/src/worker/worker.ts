/** The worker that the library runs in: it executes the calls of the page. */
import type { FromWorker, ToWorker } from "../protocol.js";
import { Calls } from "./calls.js";
import type { Course } from "./context.js";
import { Library } from "./library.js";
import { loadModule } from "./module.js";
import { failureOf, status, StatusError } from "./status.js";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;
const send = (message: FromWorker) => scope.postMessage(message);

/** The minimum time between reports of progress. */
const PROGRESS_MS = 50;

let calls: Calls | undefined;
const courses = new Map<number, AbortController>();

async function start(threads: boolean, workers: number): Promise<void> {
  try {
    const library = new Library(await loadModule(threads, workers));
    calls = new Calls(library, (events) => send({ events }));
    send({ started: library.text(library.call("rc_version_string")) });
  } catch (error) {
    send({ answer: 0, failure: failureOf(error) });
  }
}

function courseOf(call: number, controller: AbortController): Course {
  let last = -Infinity;
  return {
    signal: controller.signal,
    progress(fraction, of) {
      const now = performance.now();
      if (now - last < PROGRESS_MS && fraction < 1) return;
      last = now;
      send({ progress: call, fraction, of });
    },
  };
}

async function answer(
  call: number,
  name: string,
  args: readonly unknown[],
): Promise<void> {
  const controller = new AbortController();
  courses.set(call, controller);
  try {
    if (calls === undefined) {
      throw new StatusError(status.INTERNAL, `${name} came before the start`);
    }
    const value = await calls.call(courseOf(call, controller), name, args);
    if (call !== 0) send({ answer: call, value });
  } catch (error) {
    if (call !== 0) send({ answer: call, failure: failureOf(error) });
    else console.error(error);
  } finally {
    courses.delete(call);
  }
}

scope.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if ("start" in data) void start(data.start.threads, data.start.workers);
  else if ("abort" in data) courses.get(data.abort)?.abort();
  else void answer(data.call, data.name, data.args);
};
