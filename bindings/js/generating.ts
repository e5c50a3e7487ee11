/** Generating text: options and results. */
import { ofStatus, type RuncibleError } from "./errors.js";
import type { Piece } from "./generation.js";
import type { Grammar } from "./grammar.js";
import type { JsonOption } from "./json.js";
import type { Report } from "./reports.js";
import type { TokenizeOptions, Tokens } from "./tokens.js";

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
  /** The grammar of the text. */
  grammar?: Grammar | undefined;
}

export interface StreamOptions extends GenerateOptions {
  /** Cancels the generation, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A token and the natural logarithm of its probability. */
export interface Logprob {
  readonly token: number;
  readonly logprob: number;
}

/** A complete call of a tool. */
export class ToolCall {
  /** The id that its result states as `tool_call_id`. */
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

/** The end of a request. */
export class End {
  readonly report: Report;
  /** The error to throw after the last piece, if any. */
  readonly error: RuncibleError | undefined;

  constructor(status: number, message: string, report: Report) {
    this.report = Object.freeze(report);
    if (status === 0) return;
    this.error = ofStatus(status, message || `the request ended: ${report.reason}`);
    this.error.report = this.report;
  }
}

/** A complete text and its report. */
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
