/** Sessions, the state of one conversation. */
import type { ChatOptions } from "./answers.js";
import { Chat } from "./chat.js";
import type { Engine } from "./engine.js";
import type { Generated, Prompt, StreamOptions } from "./generating.js";
import { posting, wantedOf } from "./generation.js";
import { Handle, named, need, optionsOf } from "./handle.js";
import { logitsOf, type Logits } from "./logits.js";
import { rc } from "./members.js";
import type { Model } from "./model.js";
import { Stream } from "./streaming.js";
import { tokensOf } from "./tokenizer.js";
import { tokenizeFlags, type TokenizeOptions, type Tokens } from "./tokens.js";

/** @c rc_session_options */
export interface SessionOptions {
  // :api: options rc_session_options
}

/**
 * @c session.h
 */
export class Session extends Handle {
  #model: Model;

  /** @internal */
  constructor(engine: Engine, id: number, model: Model) {
    super(engine, id);
    this.#model = model;
  }

  /** The model to which it belongs. */
  get model(): Model {
    return this.#model;
  }

  // :api: release rc_session

  /**
   * @c rc_session_create
   */
  static create(model: Model, options?: SessionOptions): Session {
    const of = need(model, "Model", "model");
    const made = optionsOf("session_options", options);
    const id = model._engine.newHandle();
    model._engine.post("session", of, id, made);
    return new Session(model._engine, id, model);
  }

  /** @c rc_session_restore */
  static async restore(
    model: Model,
    saved: Uint8Array,
    options?: SessionOptions,
  ): Promise<Session> {
    const of = need(model, "Model", "model");
    const made = optionsOf("session_options", options);
    const id = model._engine.newHandle();
    await model._engine.call("restore", [of, id, saved, made]);
    return new Session(model._engine, id, model);
  }

  /** Starts generating in the worker; for `for await`. */
  stream(prompt?: Prompt, options?: StreamOptions): Stream {
    const id = this._id;
    const wanted = wantedOf(prompt, options);
    return new Stream(posting(this._engine, "generate", id, wanted), options?.signal);
  }

  /** Resolves with the complete text. */
  async generate(prompt?: Prompt, options?: StreamOptions): Promise<Generated> {
    return this.stream(prompt, options).whole();
  }

  /**
   * Begins a conversation without messages over the session. The first call of the
   * conversation reports errors in the options.
   *
   * InvalidArgumentError: an option is invalid; NotFoundError: there is no such template,
   * or the file has none; UnsupportedError: the model has no tokenizer; FormatError: the
   * template has an error.
   */
  chat(options?: ChatOptions): Chat {
    return Chat._begin(this, options);
  }

  /** @c rc_session_append rc_session_append_text */
  async append(
    what: string | Uint8Array | Tokens,
    options?: TokenizeOptions,
  ): Promise<void> {
    if (typeof what === "string" || what instanceof Uint8Array) {
      await this._ask("appendText", what, tokenizeFlags(options));
    } else {
      await this._ask("appendTokens", tokensOf(what, "tokens"));
    }
  }

  /** @c rc_session_decode */
  decode(options: { allLogits?: boolean } = {}): Promise<void> {
    return this._ask("decode", options.allLogits ? rc.DECODE_ALL_LOGITS : 0);
  }

  /**
   * The logits of the last decode: one row, or one for each token evaluated
   * with `allLogits`. NotFoundError: there was no decode since the last change.
   */
  async logits(): Promise<Logits> {
    return logitsOf(await this._ask<[Float32Array, number, number]>("logits"));
  }

  // :api: methods rc_session
}
named(Session, "Session");
