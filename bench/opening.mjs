// What opening.c measures, in Node; see opening.py.
//
//   node opening.mjs PACKAGE discover|SPEC|wait:SECONDS
import { openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const [, , folder, what] = process.argv;
const { Backend, discover } = createRequire(import.meta.url)(folder);

// How long the calling thread computed, and how long it was ready to run and did
// not, in ms. Linux alone tells, and of the computing only what was before the
// thread slept last.
let schedstat;
try {
  schedstat = openSync("/proc/thread-self/schedstat");
} catch {
  schedstat = undefined;
}
const text = Buffer.alloc(96);
function threadTimes() {
  if (schedstat === undefined) return [0, 0];
  const length = readSync(schedstat, text, 0, text.length, 0);
  const [ran, waited] = text.latin1Slice(0, length).split(" ");
  return [ran * 1e-6, waited * 1e-6];
}

// What a timer of 1 ms tells while that is under way, and its result.
async function ticks(during) {
  const times = [[performance.now(), ...threadTimes()]];
  let ended = false;
  const ticking = new Promise((resolve) => {
    const tick = () => {
      times.push([performance.now(), ...threadTimes()]);
      if (ended && times.length > 3) resolve();
      else setTimeout(tick, 1);
    };
    setTimeout(tick, 1);
  });
  const result = await during().finally(() => (ended = true));
  await ticking;
  const most = { late: 0, busy: 0, waited: 0, held: 0 };
  let latest = { ...most };
  for (let i = 1; i < times.length; ++i) {
    // What was computed until this tick may be told at the next one only.
    const busy = times[Math.min(i + 1, times.length - 1)][1] - times[i - 1][1];
    const waited = times[i][2] - times[i - 1][2];
    const late = Math.max(0, times[i][0] - times[i - 1][0] - 1);
    const one = { late, busy, waited, held: Math.max(0, late - busy - waited) };
    if (one.late > latest.late) latest = one;
    for (const key of Object.keys(most)) most[key] = Math.max(most[key], one[key]);
  }
  const told = { late_ms: latest.late };
  for (const key of ["busy", "waited", "held"]) {
    told[`late_${key}_ms`] = latest[key];
    told[`${key}_ms`] = most[key];
  }
  return [told, result];
}

const begun = {
  discover: () => discover(),
  wait: () => sleep(Number(what.slice(5)) * 1e3),
};
const kind = what.startsWith("wait:") ? "wait" : what;
const [alone] = await ticks(() => sleep(500));
const begin = performance.now();
const used = process.cpuUsage();
let call = 0;
const [told, opened] = await ticks(() => {
  const opening = begun[kind]?.() ?? Backend.open(what);
  call = performance.now() - begin;
  return opening;
});
const taken = performance.now() - begin;
const { user, system } = process.cpuUsage(used);
const closing = performance.now();
opened?.close?.();
const close = performance.now() - closing;
console.log(
  JSON.stringify({
    ...told,
    late_alone_ms: alone.late_ms,
    call_ms: call,
    close_ms: close,
    seconds: taken / 1000,
    processors: (user + system) / 1000 / taken,
  }),
);
