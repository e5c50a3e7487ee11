// What opening.c measures, in Node; see opening.py.
//
//   node opening.mjs PACKAGE discover|SPEC
import { createRequire } from "node:module";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const [, , folder, what] = process.argv;
const { Backend, discover } = createRequire(import.meta.url)(folder);

// The longest delay of a timer of 1 ms, beyond that millisecond.
async function lateness(during) {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const result = await during();
  await sleep(5);
  delays.disable();
  return [Math.max(0, delays.max * 1e-6 - 1), result];
}

const [alone] = await lateness(() => sleep(500));
const begin = performance.now();
let call = 0;
const [late, opened] = await lateness(() => {
  const opening = what === "discover" ? discover() : Backend.open(what);
  call = performance.now() - begin;
  return opening;
});
const seconds = (performance.now() - begin) / 1000;
const closing = performance.now();
opened.close?.();
const close = performance.now() - closing;
console.log(JSON.stringify({ late_ms: late, late_alone_ms: alone, call_ms: call, close_ms: close, seconds }));
