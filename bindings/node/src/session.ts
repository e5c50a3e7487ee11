/** Sessions, the state of one conversation. */
import type { ChatOptions } from "./answers";
import { Chat } from "./chat";
import { BusyError } from "./errors";
import {
  Collector,
  type GenerateOptions,
  type Generated,
  type Prompt,
  type StreamOptions,
} from "./generating";
import { Generation, makeOptions } from "./generation";
import {
  Handle,
  ModelHandle,
  need,
  optionsOf,
  pathOf,
  plain,
  type Path,
  type Proxy,
} from "./handle";
import { logitsOf, type Logits } from "./logits";
import { posting } from "./mailbox";
import type { Model } from "./model";
import { native } from "./native";
import { Stream } from "./streaming";
import { Tensor } from "./tensor";
import { tokenizeFlags, type TokenizeOptions, type Tokens } from "./tokens";

/** @c rc_session_options */
export interface SessionOptions {
  // :api: options rc_session_options
}

/** @c session.h */
export class Session extends Handle {
  #model: Model;
  /** Generations that block and are still referenced. */
  #generations: WeakRef<Generation>[] = [];
  #pending = 0;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(proxy: Proxy, model: Model) {
    super(proxy);
    this.#model = model;
  }

  // :api: release rc_session

  /** Releases the session after the calls in flight. @internal */
  protected override _release(proxy: Proxy): void {
    if (this.#pending === 0) super._release(proxy);
    else void this.#last.then(() => super._release(proxy));
  }

  /** @c rc_session_create */
  static create(model: Model, options?: SessionOptions): Session {
    const handle = need(model, ModelHandle, "model");
    const made = optionsOf("session_options", options);
    return new Session(native.session_create(handle, made), model);
  }

  /** @c rc_session_restore */
  static async restore(
    model: Model,
    saved: Path | Uint8Array,
    options?: SessionOptions,
  ): Promise<Session> {
    const handle = need(model, ModelHandle, "model");
    const made = optionsOf("session_options", options);
    const proxy = await (saved instanceof Uint8Array
      ? native.session_restore_memory_later(handle, saved, made)
      : native.session_restore_later(handle, pathOf(saved), made));
    return new Session(proxy, model);
  }

  get model(): Model {
    return this.#model;
  }

  /** Starts generating on the event loop; for `for await`. */
  stream(prompt?: Prompt, options?: StreamOptions): Stream {
    const handle = this.#idle();
    const made = makeOptions(prompt, options);
    return new Stream(
      posting((key) => native.mailbox_generate(handle, made, key)),
      options?.signal,
    );
  }

  /** Resolves with the complete text. */
  async generate(prompt?: Prompt, options?: StreamOptions): Promise<Generated> {
    return this.stream(prompt, options).whole();
  }

  /** Starts generating; iterating blocks the event loop. */
  streamSync(prompt?: Prompt, options?: GenerateOptions): Generation {
    const made = new Generation(this.#idle(), makeOptions(prompt, options));
    const going = this.#generations.filter((each) => {
      const generation = each.deref();
      return generation !== undefined && generation.report === undefined;
    });
    this.#generations = [...going, new WeakRef(made)];
    return made;
  }

  /** Returns the complete text; blocks the event loop until then. */
  generateSync(prompt?: Prompt, options?: GenerateOptions): Generated {
    const collector = new Collector();
    const generation = this.streamSync(prompt, options);
    for (const piece of generation) collector.add(piece);
    return collector.whole(generation.report);
  }

  /**
   * Begins a conversation without messages over the session.
   *
   * InvalidArgumentError: an option is invalid; NotFoundError: there is no such template,
   * or the file has none; UnsupportedError: the model has no tokenizer; FormatError: the
   * template has an error.
   */
  chat(options?: ChatOptions): Chat {
    return Chat._begin(this.#idle(), options, () => this.#leave());
  }

  /** @c rc_session_append rc_session_append_text */
  async append(
    what: string | Uint8Array | Tokens,
    options?: TokenizeOptions,
  ): Promise<void> {
    if (typeof what === "string" || what instanceof Uint8Array) {
      const flags = tokenizeFlags(options);
      await this.#turn((handle) =>
        native.session_append_text_later(handle, what, flags),
      );
    } else {
      const tokens = plain(what);
      await this.#turn((handle) => native.session_append_later(handle, tokens));
    }
  }

  /** @c rc_session_decode */
  decode(options: { allLogits?: boolean } = {}): Promise<void> {
    const flags = options.allLogits ? native.DECODE_ALL_LOGITS : 0;
    return this.#turn((handle) => native.session_decode_later(handle, flags));
  }

  /**
   * The logits of the last decode: one row, or one for each token evaluated
   * with `allLogits`. NotFoundError: there was no decode since the last change.
   */
  async logits(): Promise<Logits> {
    return logitsOf(
      await this.#turn<[Float32Array, number, number]>(native.session_logits_later),
    );
  }

  // :api: methods rc_session

  /** Ends generations that were read and left, before other use of the session. */
  #leave(): void {
    for (const each of this.#generations) each.deref()?._leave();
  }

  /** Runs calls that may wait one after the other, in their order. */
  async #turn<T>(call: (handle: Proxy) => Promise<T>): Promise<T> {
    const handle = this._handle;
    this.#leave();
    const before = this.#last;
    let done = () => {};
    this.#last = new Promise<void>((resolve) => (done = resolve));
    ++this.#pending;
    try {
      await before;
      return await call(handle);
    } finally {
      --this.#pending;
      done();
    }
  }

  /** Returns the handle, if no call is in flight that a request would overtake. */
  #idle(): Proxy {
    const handle = this._handle;
    if (this.#pending > 0) {
      throw new BusyError(
        "calls on this session are under way; await them before generating",
      );
    }
    this.#leave();
    return handle;
  }
}
