/**
 * Requests whose events arrive on Node's event loop.
 *
 * The library posts events on the libuv loop that Node runs; once in each turn this
 * module delivers them to their streams. No other thread ever runs JavaScript.
 */
import { ofStatus } from "./errors";
import { readEvents } from "./generation";
import type { Proxy } from "./handle";
import { native } from "./native";
import type { Begin, Flight } from "./streaming";

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
    // Events are lost, so that no stream is complete any more.
    for (const flight of flights.values()) {
      flight.cancel();
      flight.finish(undefined, failure);
    }
    flights.clear();
    throw failure;
  }
}

native.set_functions(ofStatus, () => void setImmediate(take));

/** Starts a request; `start` receives the key that its events carry. */
export function posting(start: (key: number) => Proxy): Begin {
  return (flight) => {
    const key = ++lastKey;
    const request = start(key);
    flights.set(key, flight);
    return () => native.request_cancel(request);
  };
}
