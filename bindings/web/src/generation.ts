/** Generating text: options, pieces and ends. */
import { ofStatus, type RuncibleError } from "./errors.js";
import type { Grammar } from "./grammar.js";
import { need, optionsOf, shown } from "./handle.js";
import type { JsonOption } from "./json.js";
import type { Entry, EventValues, LogprobsValues, Wanted } from "./protocol.js";
import type { EndReason, Report } from "./reports.js";
import {
  tokenizeFlags,
  tokensOf,
  type TokenizeOptions,
  type Tokens,
} from "./tokenizer.js";

/** Text, tokens, or nothing. */
export type Prompt = string | Uint8Array | Tokens | null | undefined;

/** @c rc_generate_options */
export interface GenerateOptions extends TokenizeOptions {
  // :api: options rc_generate_options
  /** Added to the logits of tokens; -Infinity forbids one. */
  logitBias?: ReadonlyMap<number, number> | undefined;
  /** Texts that end the text and are not part of it. */
  stop?: string | readonly string[] | undefined;
  stopTokens?: Tokens | undefined;
  /** What may be generated. */
  grammar?: Grammar | undefined;
}

export interface StreamOptions extends GenerateOptions {
  /** Cancels the generation, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

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

/** What is asked of the worker. */
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

/** A token and the natural logarithm of its probability. */
export interface Logprob {
  readonly token: number;
  readonly logprob: number;
}

/** Text that became certain. All pieces one after the other are the whole. */
export class Piece {
  readonly text: string;
  /** The tokens generated since the last piece. */
  readonly tokens: Int32Array;
  /** With the option `logprobs`: of each token. */
  readonly logprobs: readonly Logprob[] | undefined;
  /** The most probable tokens in the place of each, by falling probability. */
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

/** Text of what the model thinks before it answers. */
export class Reasoning extends Piece {}

/** A call of a tool, as a whole. */
export class ToolCall {
  /** Which its result names, as `tool_call_id`. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, unknown>;

  /** @internal */
  constructor(id: string, name: string, json: string) {
    this.id = id;
    this.name = name;
    this.arguments = JSON.parse(json);
  }
}

/** What an answer of a conversation consists of: a plain piece is text. */
export type Part = Piece | Reasoning | ToolCall;

/** How a request ended. */
export class End {
  readonly report: Report;
  /** What to throw after the last piece, if anything. */
  readonly error: RuncibleError | undefined;

  constructor(values: Extract<EventValues, { kind: "end" }>) {
    const { status, message, seed, numbers } = values;
    const reason = values.reason as EndReason;
    this.report = Object.freeze({ reason, seed, ...numbers } as Report);
    if (status !== 0) {
      this.error = ofStatus(status, message || `the request ended: ${reason}`);
      this.error.report = this.report;
    }
  }
}

/** What an event that is no end stands for. */
export function partOf(event: Exclude<EventValues, { kind: "end" }>): Part {
  if (event.kind === "call") return new ToolCall(event.id, event.name, event.json);
  const kind = event.kind === "piece" ? Piece : Reasoning;
  return new kind(event.text, event.tokens, event.logprobs);
}

/** A whole text, and how it came to be. */
export interface Generated {
  readonly text: string;
  readonly tokens: Int32Array;
  readonly report: Report;
}

/** Collects pieces. */
export class Collector {
  #text = "";
  readonly #tokens: number[] = [];

  add(piece: Piece): void {
    this.#text += piece.text;
    this.#tokens.push(...piece.tokens);
  }

  whole(report: Report | undefined): Generated {
    const tokens = Int32Array.from(this.#tokens);
    return { text: this.#text, tokens, report: report! };
  }
}
