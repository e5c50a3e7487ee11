/** Generating text while the page goes on. */
import { Channel, DONE, type Result } from "./channel.js";
import type { Engine, Flight as Listener } from "./engine.js";
import { Collector, End, Piece, partOf, type Generated } from "./generation.js";
import type { EventValues, Wanted } from "./protocol.js";
import type { Report } from "./reports.js";

/** A request in flight, and the signal that may cancel it. */
class Flight implements Listener {
  readonly channel = new Channel<End>();
  readonly #engine: Engine;
  readonly #signal: AbortSignal | undefined;
  #key = 0;

  constructor(engine: Engine, signal: AbortSignal | undefined) {
    this.#engine = engine;
    this.#signal = signal;
  }

  begin(name: string, of: number, wanted: Wanted): void {
    this.#key = this.#engine.begin(this, name, of, wanted);
    this.#signal?.addEventListener("abort", this.cancel);
  }

  readonly cancel = (): void => {
    if (!this.channel.ended) this.#engine.tell("cancel", this.#key);
  };

  take(event: EventValues): void {
    if (event.kind !== "end") {
      this.channel.push(partOf(event));
      return;
    }
    const end = new End(event);
    const aborted = this.#signal?.aborted && event.reason === "cancelled";
    this.#finish(end, aborted ? this.#signal!.reason : end.error);
  }

  lose(error: Error): void {
    this.#finish(undefined, error);
  }

  #finish(end: End | undefined, failure: unknown): void {
    this.#signal?.removeEventListener("abort", this.cancel);
    this.channel.finish(end, failure);
  }
}

const lost = new FinalizationRegistry<Flight>((flight) => flight.cancel());

/** What a request gives as it comes; see Stream and AnswerStream. */
export abstract class AsyncReading<T> implements AsyncIterableIterator<T> {
  readonly #flight: Flight;

  /** @internal */
  constructor(
    engine: Engine,
    name: string,
    of: number,
    wanted: Wanted,
    signal: AbortSignal | undefined,
  ) {
    signal?.throwIfAborted();
    this.#flight = new Flight(engine, signal);
    this.#flight.begin(name, of, wanted);
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

  /** Asks the generation to end; CancelledError after the last piece. */
  cancel(): void {
    this.#flight.cancel();
  }

  /** How it ended, and times and counts; undefined before the end. */
  get report(): Report | undefined {
    return this.#flight.channel.end?.report;
  }
}

/**
 * The pieces of a text as they come; the page is never blocked.
 *
 * An end that is no success is thrown after the last piece: DeadlineError,
 * CancelledError, or the reason of the signal that cancelled
 * it. Leaving a `for await` cancels the generation and waits for its end;
 * losing the last reference cancels it.
 */
export class Stream extends AsyncReading<Piece> {
  /** @internal */
  constructor(
    engine: Engine,
    session: number,
    wanted: Wanted,
    signal?: AbortSignal,
  ) {
    super(engine, "generate", session, wanted, signal);
  }

  /** Reads to the end. */
  async whole(): Promise<Generated> {
    const collector = new Collector();
    for await (const piece of this) collector.add(piece);
    return collector.whole(this.report);
  }
}
