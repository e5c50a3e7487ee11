// Measures rates through Node, and how responsive its event loop stays.
//
//     node bench.mjs [--streams 64] [--tokens 256] [--backend cpu]
//                    [--model PATH]
//
// Streams texts at once with a timer of 1 ms and an HTTP server that another process
// asks every 5 ms. Prints the rate of all streams together, the timer's worst
// lateness, and the server's response times, with and without streams. These times
// also include waiting for processors that other processes and the computing threads
// use, so "longest_turn_ms" states the longest time that the package itself held the
// loop while it delivered events.
// bench/event_loop.c does the same in C: run one after the other to compare.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, get } from "node:http";
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from "node:timers/promises";
import { parseArgs } from "node:util";

const TICK_MS = 1;
const ASK_MS = 5;
/** Questions before measuring starts: both programs are compiled as they run. */
const WARM_UP = 50;

/** Measures the turns in which the package takes events, by wrapping setImmediate. */
let longestTurn = 0;
const immediately = globalThis.setImmediate;
globalThis.setImmediate = (take, ...rest) =>
  immediately(() => {
    const begun = performance.now();
    take(...rest);
    longestTurn = Math.max(longestTurn, performance.now() - begun);
  });

/** Runs `work` with a timer; returns its result and the timer's worst lateness. */
async function withTimer(work) {
  let worst = 0;
  let due = performance.now() + TICK_MS;
  let timer = setTimeout(tick, TICK_MS);
  function tick() {
    const now = performance.now();
    worst = Math.max(worst, now - due);
    due = now + TICK_MS;
    timer = setTimeout(tick, TICK_MS);
  }
  try {
    return [await work(), worst];
  } finally {
    clearTimeout(timer);
  }
}

async function countTokens(model, seed, maxTokens) {
  const session = model.session({ whenFull: "shift" });
  let count = 0;
  const options = { seed, maxTokens, ignoreEos: true };
  for await (const piece of session.stream("A", options)) {
    count += piece.tokens.length;
  }
  session.close();
  return count;
}

/** Asks until it is stopped; returns the milliseconds that each answer took. */
async function askServer(port) {
  const times = [];
  const agent = new Agent({ keepAlive: true });
  let asking = true;
  process.once("message", () => (asking = false));
  for (let i = 0; asking; ++i) {
    if (i === WARM_UP) {
      times.length = 0;
      process.send("ready");
    }
    const begun = performance.now();
    await new Promise((resolve, reject) => {
      get({ port, agent, host: "127.0.0.1" }, (response) => {
        response.resume().on("end", resolve);
      }).on("error", reject);
    });
    times.push(performance.now() - begun);
    await sleep(ASK_MS);
  }
  agent.destroy();
  process.send(times);
}

/** Runs `work` while another process sends requests to a server of this one. */
async function served(work) {
  const server = createServer((_, response) => response.end("here\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const asker = fork(new URL(import.meta.url), ["--ask", String(port)]);
  await once(asker, "message");
  const result = await work();
  asker.send("stop");
  const [times] = await once(asker, "message");
  server.close();
  asker.disconnect();
  times.sort((a, b) => a - b);
  const at = (part) => rounded(times[Math.floor(part * (times.length - 1))]);
  return [
    result,
    { asked: times.length, median: at(0.5), p99: at(0.99), worst: at(1) },
  ];
}

const rounded = (number) => Math.round(number * 100) / 100;

async function measure({ streams, tokens, backend, model: path }) {
  const { Model } = await import("runcible");
  const model = await Model.load(path, { backend });
  const all = async () => {
    const begun = performance.now();
    const going = [];
    for (let seed = 0; seed < Number(streams); ++seed) {
      going.push(countTokens(model, seed, Number(tokens)));
      // Each stream starts in a separate turn, as requests of clients do.
      await nextTurn();
    }
    const counts = await Promise.all(going);
    const seconds = (performance.now() - begun) / 1000;
    const sum = counts.reduce((a, b) => a + b);
    return { tokens: sum, seconds, rate: rounded(sum / seconds) };
  };
  const [, alone] = await withTimer(() => sleep(1000));
  const [{ rate, seconds, tokens: sum }, late] = await withTimer(all);
  const [, idle] = await served(() => sleep(1000));
  const [{ rate: rateServing }, busy] = await served(all);
  console.log(
    JSON.stringify(
      {
        streams: Number(streams),
        tokens: sum,
        seconds: rounded(seconds),
        tokens_per_second: rate,
        longest_turn_ms: rounded(longestTurn),
        worst_late_ms: rounded(late),
        worst_late_alone_ms: rounded(alone),
        tokens_per_second_while_serving: rateServing,
        answers_ms: busy,
        answers_alone_ms: idle,
      },
      null,
      2,
    ),
  );
}

const { values } = parseArgs({
  options: {
    streams: { type: "string", default: "64" },
    tokens: { type: "string", default: "256" },
    backend: { type: "string", default: "cpu" },
    model: { type: "string", default: "builtin:fable" },
    ask: { type: "string" },
  },
});
if (values.ask === undefined) await measure(values);
else await askServer(Number(values.ask));
