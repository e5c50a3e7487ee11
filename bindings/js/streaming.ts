/** Generating text while the event loop goes on. */
import { Channel, DONE, type Result } from "./channel.js";
import { Collector, type End, type Generated } from "./generating.js";
import type { Piece } from "./generation.js";
import type { Report } from "./reports.js";

/** Starts the request of a flight and returns the function that cancels it. */
export type Begin = (flight: Flight) => () => void;

/** A request in flight, and the signal that may cancel it. */
export class Flight {
  readonly channel = new Channel<End>();
  readonly #signal: AbortSignal | undefined;
  #stop = (): void => {};

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  begin(begin: Begin): void {
    this.#stop = begin(this);
    this.#signal?.addEventListener("abort", this.cancel);
  }

  readonly cancel = (): void => {
    if (!this.channel.ended) this.#stop();
  };

  /** `failure` is thrown after the last part, unless it is undefined. */
  finish(end: End | undefined, failure: unknown): void {
    this.#signal?.removeEventListener("abort", this.cancel);
    const aborted = this.#signal?.aborted && end?.report.reason === "cancelled";
    this.channel.finish(end, aborted ? this.#signal.reason : failure);
  }
}

const lost = new FinalizationRegistry<Flight>((flight) => flight.cancel());

/** The results of a request as they arrive; see Stream and AnswerStream. */
export abstract class AsyncReading<T> implements AsyncIterableIterator<T> {
  readonly #flight: Flight;

  /** @internal */
  constructor(begin: Begin, signal: AbortSignal | undefined) {
    signal?.throwIfAborted();
    this.#flight = new Flight(signal);
    this.#flight.begin(begin);
    lost.register(this, this.#flight);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<T>> {
    return this.#flight.channel.read(this);
  }

  /** Cancels and waits for the end; pieces not yet read are dropped. */
  async return(): Promise<Result<T>> {
    const { channel } = this.#flight;
    channel.drop();
    this.cancel();
    await channel.whenEnded();
    return DONE;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Asks the generation to end; CancelledError follows the last piece. */
  cancel(): void {
    this.#flight.cancel();
  }

  /** The reason of the end, times and counts; undefined before the end. */
  get report(): Report | undefined {
    return this.#flight.channel.end?.report;
  }
}

/**
 * The pieces of a text as they arrive, while the event loop goes on.
 *
 * An unsuccessful end is thrown after the last piece: DeadlineError,
 * CancelledError, or the reason of the signal that cancelled it. Leaving a
 * `for await` cancels the generation and waits for its end; losing the last
 * reference cancels it.
 */
export class Stream extends AsyncReading<Piece> {
  /** Reads to the end. */
  async whole(): Promise<Generated> {
    const collector = new Collector();
    for await (const piece of this) collector.add(piece);
    return collector.whole(this.report);
  }
}
