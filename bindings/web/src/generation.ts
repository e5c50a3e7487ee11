/** Generating text: options, pieces and ends. */
import type { Engine } from "./engine.js";
import { End, ToolCall, type Logprob, type Prompt, type StreamOptions } from "./generating.js";
import { Grammar } from "./grammar.js";
import { named, need, optionsOf, shown } from "./handle.js";
import type { Entry, EventValues, LogprobsValues, Wanted } from "./protocol.js";
import type { EndReason, Report } from "./reports.js";
import type { Begin } from "./streaming.js";
import { tokensOf } from "./tokenizer.js";
import { tokenizeFlags } from "./tokens.js";

named(Grammar, "Grammar");

const others = [
  "addSpecial",
  "parseSpecial",
  "signal",
  "stop",
  "stopTokens",
  "grammar",
  "logitBias",
];

function stopOf(given: string | readonly string[] | undefined): string[] {
  const texts = typeof given === "string" ? [given] : [...(given ?? [])];
  for (const text of texts) {
    if (typeof text !== "string") {
      throw new TypeError(`stop must be texts, not ${shown(text)}`);
    }
  }
  return texts;
}

/** Returns the prompt and options for the worker. */
export function wantedOf(
  prompt: Prompt,
  given: StreamOptions = {},
): Wanted {
  const options: Entry[] = optionsOf("generate_options", given, others);
  options.push(["tokenize_flags", tokenizeFlags(given)]);
  const biases = given.logitBias ?? new Map<number, number>();
  if (!(biases instanceof Map)) {
    throw new TypeError(`logitBias must be a Map, not ${shown(biases)}`);
  }
  const { grammar } = given;
  return {
    options,
    prompt: promptOf(prompt),
    stop: stopOf(given.stop),
    stopTokens: tokensOf(given.stopTokens ?? [], "stopTokens"),
    biasTokens: tokensOf([...biases.keys()], "logitBias"),
    biases: Float32Array.from(biases.values()),
    grammar:
      grammar === undefined ? undefined : need(grammar, "Grammar", "grammar"),
  };
}

function promptOf(prompt: Prompt): Wanted["prompt"] {
  if (prompt === undefined || prompt === null) return undefined;
  if (typeof prompt === "string" || prompt instanceof Uint8Array) return prompt;
  return tokensOf(prompt, "prompt");
}

/** Text that is final. All pieces in order make up the complete text. */
export class Piece {
  readonly text: string;
  /** The tokens generated since the last piece. */
  readonly tokens: Int32Array;
  /** The log-probability of each token, with the option `logprobs`. */
  readonly logprobs: readonly Logprob[] | undefined;
  /** The most probable tokens for each position, by falling probability. */
  readonly topLogprobs: readonly (readonly Logprob[])[] | undefined;

  /** @internal */
  constructor(text: string, tokens: Int32Array, logprobs?: LogprobsValues) {
    this.text = text;
    this.tokens = tokens;
    if (logprobs === undefined) return;
    const { logprobs: own, topTokens, topLogprobs } = logprobs;
    const most = topTokens.length / Math.max(1, tokens.length);
    this.logprobs = Array.from(tokens, (token, i) => ({
      token,
      logprob: own[i]!,
    }));
    this.topLogprobs = Array.from(tokens, (_, i) =>
      Array.from({ length: most }, (_, j) => ({
        token: topTokens[i * most + j]!,
        logprob: topLogprobs[i * most + j]!,
      })).filter(({ token }) => token >= 0),
    );
  }

  toString(): string {
    return this.text;
  }
}

/** Text that the model thinks before it answers. */
export class Reasoning extends Piece {}

/** A part of an answer of a conversation: a plain piece is text. */
export type Part = Piece | Reasoning | ToolCall;

function endOf(event: Extract<EventValues, { kind: "end" }>): End {
  const { status, message, seed, numbers } = event;
  const reason = event.reason as EndReason;
  return new End(status, message, { reason, seed, ...numbers } as Report);
}

/** Returns the part that an event other than an end represents. */
function partOf(event: Exclude<EventValues, { kind: "end" }>): Part {
  if (event.kind === "call") return new ToolCall(event.id, event.name, event.json);
  const kind = event.kind === "piece" ? Piece : Reasoning;
  return new kind(event.text, event.tokens, event.logprobs);
}

/** Starts a request of the worker. */
export function posting(engine: Engine, name: string, of: number, wanted: Wanted): Begin {
  return (flight) => {
    const listener = {
      take(event: EventValues): void {
        if (event.kind === "end") {
          const end = endOf(event);
          flight.finish(end, end.error);
        } else {
          flight.channel.push(partOf(event));
        }
      },
      lose: (error: Error) => flight.finish(undefined, error),
    };
    const key = engine.begin(listener, name, of, wanted);
    return () => engine.post("cancel", key);
  };
}
