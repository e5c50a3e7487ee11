/** Generating text: options, pieces, ends, and the blocking iterator. */
import { End, ToolCall, type Logprob, type Prompt, type StreamOptions } from "./generating";
import { Grammar } from "./grammar";
import { need, optionsOf, shown, type Proxy } from "./handle";
import { endNumbers } from "./members";
import { native } from "./native";
import type { EndReason, Report } from "./reports";
import { tokenizeFlags } from "./tokens";

/** Returns the library's options. */
export function makeOptions(
  prompt: Prompt,
  given: StreamOptions | undefined,
): Proxy {
  const others = () => {};
  const options = optionsOf("generate_options", given, {
    addSpecial: others,
    parseSpecial: others,
    signal: others,
    stop(texts, options) {
      for (const text of typeof texts === "string" ? [texts] : texts) {
        options.add_stop(text);
      }
    },
    stopTokens(tokens, options) {
      options.set_stop_tokens(tokens);
    },
    grammar(grammar, options) {
      options.set_grammar(need(grammar, Grammar, "grammar"));
    },
    logitBias(biases, options) {
      if (!(biases instanceof Map)) {
        throw new TypeError(`logitBias must be a Map, not ${shown(biases)}`);
      }
      for (const [token, bias] of biases) options.add_logit_bias(token, bias);
    },
  });
  options.tokenize_flags = tokenizeFlags(given);
  if (typeof prompt === "string" || prompt instanceof Uint8Array) {
    options.set_prompt(prompt);
  } else if (prompt !== undefined && prompt !== null) {
    options.set_prompt_tokens(prompt);
  }
  return options;
}

/** Text that is final. All pieces in order make up the complete text. */
export class Piece {
  readonly text: string;
  /** The log-probability of each token, with the option `logprobs`. */
  readonly logprobs: readonly Logprob[] | undefined;
  /** The most probable tokens for each position, by falling probability. */
  readonly topLogprobs: readonly (readonly Logprob[])[] | undefined;
  readonly #all: Int32Array;
  readonly #begin: number;
  readonly #end: number;

  /** @internal */
  constructor(
    text: string,
    all: Int32Array,
    begin: number,
    end: number,
    logprobs: [Logprob[], Logprob[][]] | null,
  ) {
    this.text = text;
    this.logprobs = logprobs?.[0];
    this.topLogprobs = logprobs?.[1];
    this.#all = all;
    this.#begin = begin;
    this.#end = end;
  }

  /** The tokens generated since the last piece. */
  get tokens(): Int32Array {
    return this.#all.subarray(this.#begin, this.#end);
  }

  toString(): string {
    return this.text;
  }
}

/** Text that the model thinks before it answers. */
export class Reasoning extends Piece {}

/** A part of an answer of a conversation: a plain piece is text. */
export type Part = Piece | Reasoning | ToolCall;

type EndValues = [
  status: number,
  message: string,
  reason: EndReason,
  seed: bigint,
  ...numbers: number[],
];

function endOf([status, message, reason, seed, ...numbers]: EndValues): End {
  const named = endNumbers.map((name, i) => [name, numbers[i]]);
  return new End(status, message, { reason, seed, ...Object.fromEntries(named) });
}

/** Delivers each event of a list that the module made; see values.h. */
export function readEvents(
  list: any[],
  onPart: (key: number, part: any) => void,
  onEnd: (key: number, end: End) => void,
): void {
  const tokens: Int32Array = list[0];
  let begin = 0;
  for (let i = 1; i < list.length; i += 5) {
    const key: number = list[i];
    const text: string | null = list[i + 1];
    const end: number = begin + list[i + 2];
    if (text !== null) {
      const part: true | [string, string] | undefined = list[i + 4];
      if (part instanceof Array) {
        onPart(key, new ToolCall(part[1], part[0], text));
      } else {
        const kind = part === undefined ? Piece : Reasoning;
        onPart(key, new kind(text, tokens, begin, end, list[i + 3]));
      }
    } else {
      onEnd(key, endOf(list[i + 3]));
    }
    begin = end;
  }
}

/** The duration of a blocking wait, after which Node may end the thread. */
const SLICE_MS = 100;

/**
 * The pieces of a text as they arrive; iterating blocks the event loop.
 *
 * An unsuccessful end is thrown after the last piece. Leaving the loop cancels the
 * generation and waits for its end. A generation that was read by `next` and left
 * unfinished ends when its session is used next; reading on then throws
 * CancelledError.
 */
export class Generation implements IterableIterator<Piece> {
  readonly #request: Proxy;
  #end: End | undefined;
  #closed = false;
  #read = false;
  #slice = SLICE_MS;

  /** @internal */
  constructor(session: Proxy, options: Proxy) {
    this.#request = native.request_start(session, options);
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Piece, undefined> {
    this.#read = true;
    while (this.#end === undefined) {
      const piece = this.#wait();
      if (piece !== undefined) return { done: false, value: piece };
    }
    if (!this.#closed) {
      this.#closed = true;
      if (this.#end.error !== undefined) throw this.#end.error;
    }
    return { done: true, value: undefined };
  }

  /** Cancels and waits for the end; pieces not yet read are dropped. */
  return(): IteratorResult<Piece, undefined> {
    this.#closed = true;
    if (this.#end === undefined) this.cancel();
    while (this.#end === undefined) this.#wait();
    return { done: true, value: undefined };
  }

  /** The reason of the end, times and counts; undefined before the end. */
  get report(): Report | undefined {
    return this.#end?.report;
  }

  /** @c rc_request_cancel */
  cancel(): void {
    native.request_cancel(this.#request);
  }

  /** Ends a generation that was read and then left unfinished. @internal */
  _leave(): void {
    if (!this.#read || this.#end !== undefined) return;
    this.cancel();
    native.request_wait(this.#request, -1);
  }

  #wait(): Piece | undefined {
    // Computes ops of backends of this thread, whose event loop does not run now; after
    // one op others follow soon.
    const served: boolean = native.op_backend_serve();
    this.#slice = served ? 1 : Math.min(2 * this.#slice, SLICE_MS);
    const list = native.request_next(this.#request, this.#slice);
    let found: Piece | undefined;
    if (list !== undefined) {
      readEvents(
        list,
        (_, piece) => (found = piece),
        (_, end) => (this.#end = end),
      );
    }
    return found;
  }
}
