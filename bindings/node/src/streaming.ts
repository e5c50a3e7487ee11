/**
 * Generating text on Node's event loop.
 *
 * The library posts events on the libuv loop that Node runs; once in each turn
 * of it they are given to the streams that they belong to. No other thread ever
 * runs JavaScript.
 */
import { Channel, DONE, type Result } from "./channel";
import { ofStatus } from "./errors";
import {
  Collector,
  End,
  Piece,
  readEvents,
  type Generated,
} from "./generation";
import type { Proxy } from "./handle";
import { native } from "./native";
import type { Report } from "./reports";

/** A request in flight, and the signal that may cancel it. */
class Flight {
  readonly channel = new Channel<End>();
  readonly #signal: AbortSignal | undefined;
  #request: Proxy;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  begin(request: Proxy): void {
    this.#request = request;
    this.#signal?.addEventListener("abort", this.cancel);
  }

  readonly cancel = (): void => {
    if (!this.channel.ended) native.request_cancel(this.#request);
  };

  finish(end: End | undefined, failure: unknown): void {
    this.#signal?.removeEventListener("abort", this.cancel);
    const aborted = this.#signal?.aborted && end?.report.reason === "cancelled";
    this.channel.finish(end, aborted ? this.#signal.reason : failure);
  }
}

const flights = new Map<number, Flight>();
let lastKey = 0;

function take(): void {
  try {
    readEvents(
      native.mailbox_take(),
      (key, part) => flights.get(key)!.channel.push(part),
      (key, end) => {
        const flight = flights.get(key)!;
        flights.delete(key);
        flight.finish(end, end.error);
      },
    );
  } catch (failure) {
    // Events are lost, so that no stream is whole any more.
    for (const flight of flights.values()) {
      flight.cancel();
      flight.finish(undefined, failure);
    }
    flights.clear();
    throw failure;
  }
}

native.set_functions(ofStatus, () => void setImmediate(take));

const lost = new FinalizationRegistry<Flight>((flight) => flight.cancel());

/** What a request gives as it comes; see Stream and AnswerStream. */
export abstract class AsyncReading<T> implements AsyncIterableIterator<T> {
  readonly #flight: Flight;

  /** `begin` starts the request that posts by a key. @internal */
  constructor(begin: (key: number) => Proxy, signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#flight = new Flight(signal);
    const key = ++lastKey;
    this.#flight.begin(begin(key));
    flights.set(key, this.#flight);
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
 * The pieces of a text as they come, on Node's event loop.
 *
 * An end that is no success is thrown after the last piece: DeadlineError,
 * CancelledError, or the reason of the signal that cancelled
 * it. Leaving a `for await` cancels the generation and waits for its end;
 * losing the last reference cancels it.
 */
export class Stream extends AsyncReading<Piece> {
  /** @internal */
  constructor(session: Proxy, options: Proxy, signal?: AbortSignal) {
    const begin = (key: number) =>
      native.mailbox_generate(session, options, key);
    super(begin, signal);
  }

  /** Reads to the end. */
  async whole(): Promise<Generated> {
    const collector = new Collector();
    for await (const piece of this) collector.add(piece);
    return collector.whole(this.report);
  }
}
