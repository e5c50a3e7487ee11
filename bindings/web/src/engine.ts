/** The worker that the library runs in, and calls to it. */
import { ClosedError, InternalError, ofStatus } from "./errors.js";
import type {
  EventValues,
  FromWorker,
  Progress,
  ToThread,
  ToWorker,
} from "./protocol.js";
import { threadsOf } from "./support.js";

export interface StartOptions {
  /**
   * Whether to compute with threads. true: UnsupportedError if there are none; false:
   * with one; undefined: with as many as there are, see support().
   */
  threads?: boolean | undefined;
  /**
   * The number of workers that start at once for the threads of the library: those that
   * compute, and some that open, load and render prompts. More start as they are needed.
   * By default four more than the processor has cores.
   */
  workers?: number | undefined;
}

interface Waiting {
  resolve: (value: any) => void;
  reject: (error: unknown) => void;
  progress: ((fraction: number, of: Progress) => void) | undefined;
}

export interface CallOptions {
  progress?: ((fraction: number, of: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Receives a request's events. */
export interface Flight {
  take(event: EventValues): void;
  /** Called when the worker has ended. */
  lose(error: Error): void;
}

export class Engine {
  readonly #worker: Worker;
  /** For threads of the library. */
  readonly #threads: Worker[] = [];
  readonly #waiting = new Map<number, Waiting>();
  readonly #flights = new Map<number, Flight>();
  /** The answer to the first message. */
  readonly started: Promise<string>;
  #last = 0;
  #lost: Error | undefined;
  #start: Waiting | undefined;

  constructor({ threads, workers }: StartOptions) {
    const several = threadsOf(threads);
    this.#worker = new Worker(
      new URL("./worker/worker.js", import.meta.url),
      { type: "module", name: "runcible" },
    );
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onmessageerror = () =>
      this.lose(new InternalError("a message of the worker cannot be read"));
    this.#watch(this.#worker, "worker.js");
    this.started = new Promise((resolve, reject) => {
      this.#start = { resolve, reject, progress: undefined };
    });
    this.#send({
      start: {
        threads: several,
        workers: workers ?? (navigator.hardwareConcurrency || 2) + 4,
      },
    });
  }

  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /** Returns a number for the next object that the worker makes. */
  newHandle(): number {
    return ++this.#last;
  }

  /** Calls the worker; calls start in their order. */
  async call<T>(
    name: string,
    args: readonly unknown[],
    { progress, signal }: CallOptions = {},
  ): Promise<T> {
    if (progress !== undefined && typeof progress !== "function") {
      throw new TypeError("progress must be a function");
    }
    signal?.throwIfAborted();
    if (this.#lost !== undefined) throw this.#lost;
    const call = ++this.#last;
    const stop = () => this.#send({ abort: call });
    signal?.addEventListener("abort", stop);
    // An exception of `progress` ends the call, and is its failure.
    let problem: { error: unknown } | undefined;
    const report =
      progress &&
      ((fraction: number, of: Progress) => {
        if (problem !== undefined) return;
        try {
          progress(fraction, of);
        } catch (error) {
          problem = { error };
          stop();
        }
      });
    try {
      const answer = await new Promise<T>((resolve, reject) => {
        this.#waiting.set(call, { resolve, reject, progress: report });
        this.#send({ call, name, args });
      });
      // It is too late to end the call, but the error is reported.
      if (problem !== undefined) reportError(problem.error);
      return answer;
    } catch (error) {
      if (problem !== undefined) throw problem.error;
      signal?.throwIfAborted();
      throw error;
    } finally {
      this.#waiting.delete(call);
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Calls the worker without waiting for an answer. */
  post(name: string, ...args: readonly unknown[]): void {
    if (this.#lost === undefined) this.#send({ call: 0, name, args });
  }

  /** Starts a request whose events go to a flight; returns its key. */
  begin(flight: Flight, name: string, ...args: readonly unknown[]): number {
    if (this.#lost !== undefined) throw this.#lost;
    const key = ++this.#last;
    this.#flights.set(key, flight);
    this.#send({ call: 0, name, args: [key, ...args] });
    return key;
  }

  /** Ends the worker; all waiting calls fail with the error. */
  lose(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    for (const worker of [this.#worker, ...this.#threads]) worker.terminate();
    this.#start?.reject(error);
    this.started.catch(() => {});
    for (const { reject } of this.#waiting.values()) reject(error);
    for (const flight of this.#flights.values()) flight.lose(error);
    this.#flights.clear();
  }

  /** Ends the engine if a worker fails. */
  #watch(worker: Worker, file: string): void {
    worker.onerror = (event) => {
      // The error is thrown by the calls, so the page need not report it as well.
      event.preventDefault();
      const { message, filename, lineno } = event;
      const what = message
        ? `the worker has failed: ${message} (${filename}:${lineno})`
        : "the worker of runcible-web cannot be loaded: see that the server gives " +
          `its file worker/${file}, as text/javascript`;
      this.lose(new InternalError(what));
    };
  }

  /**
   * Makes a worker for a thread of the library. The page makes it, because in Firefox a
   * worker that makes another may wait for ever: it waits until listening debuggers know
   * the new one, on a condition that the new one's event loop also waits on, and only
   * one of them is notified (WorkerPrivate's mCondVar).
   */
  #begin(thread: ToThread): void {
    const worker = new Worker(
      new URL("./worker/thread.js", import.meta.url),
      { type: "module", name: "runcible thread" },
    );
    this.#watch(worker, "thread.js");
    worker.postMessage(thread, [thread.port]);
    this.#threads.push(worker);
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromWorker): void {
    if ("events" in message) {
      for (const event of message.events) {
        const flight = this.#flights.get(event.key);
        if (event.kind === "end") this.#flights.delete(event.key);
        flight?.take(event);
      }
    } else if ("progress" in message) {
      const { progress, fraction, of } = message;
      this.#waiting.get(progress)?.progress?.(fraction, of);
    } else if ("thread" in message) {
      this.#begin(message.thread);
    } else if ("started" in message) {
      this.#start?.resolve(message.started);
    } else {
      const waiting =
        message.answer === 0 ? this.#start : this.#waiting.get(message.answer);
      if ("failure" in message) {
        const { status, message: text } = message.failure;
        waiting?.reject(ofStatus(status, text));
        if (message.answer === 0) this.lose(ofStatus(status, text));
      } else {
        waiting?.resolve(message.value);
      }
    }
  }
}

let current: Promise<Engine> | undefined;

async function begun(options: StartOptions): Promise<Engine> {
  const engine = new Engine(options);
  await engine.started;
  return engine;
}

/** Returns the running engine, or starts one. */
export async function theEngine(options: StartOptions = {}): Promise<Engine> {
  for (;;) {
    const made = (current ??= begun(options));
    try {
      const engine = await made;
      if (!engine.lost) return engine;
      if (current === made) current = undefined;
    } catch (error) {
      if (current === made) current = undefined;
      throw error;
    }
  }
}

/**
 * Starts the worker, which the first other call would also do, and returns the version
 * of the library. If a worker runs already, its options stay unchanged.
 *
 * UnsupportedError: the browser or the page does not meet the requirements; the message
 * states what to do.
 */
export async function start(options?: StartOptions): Promise<string> {
  return (await theEngine(options)).started;
}

/**
 * Ends the worker, its threads and everything that they hold: models, sessions and
 * requests. Existing objects throw ClosedError from then on; a later call starts a new
 * worker.
 */
export async function terminate(): Promise<void> {
  const made = current;
  current = undefined;
  const engine = await made?.catch(() => undefined);
  engine?.lose(new ClosedError("the engine was ended by terminate()"));
}
