/** Models on a device. */
import { Backend, backendOf } from "./backend.js";
import type { Dtype } from "./dtypes.js";
import { embedTexts, scoreDocuments } from "./embedding.js";
import { Handle, named, optionsOf } from "./handle.js";
import { progressOptions, type ProgressOptions } from "./progress.js";
import type * as reports from "./reports.js";
import type { EmbedOptions, RerankOptions } from "./rows.js";
import { Session, type SessionOptions } from "./session.js";
import {
  sourceOf,
  sourceOptions,
  type ModelSource,
  type SourceOptions,
} from "./source.js";
import { Tokenizer } from "./tokenizer.js";
import type { TokenizeOptions, Tokens } from "./tokens.js";

/** @c rc_model_options */
export interface ModelOptions {
  /** A backend, or the argument of Backend.open. */
  backend?: Backend | string | undefined;
  // :api: options rc_model_options
}

export type LoadOptions = ModelOptions & ProgressOptions & SourceOptions;

/** @c rc_model */
export class Model extends Handle {
  /** The backend that the model was loaded through. */
  readonly backend: Backend;
  #tokenizer: Tokenizer | undefined;

  private constructor(backend: Backend, id: number) {
    super(backend._engine, id);
    this.backend = backend;
  }

  // :api: release rc_model

  /**
   * Loads a model, fetching files that are not in the cache of the page's origin. A
   * download that was interrupted, also by leaving the page, is resumed.
   *
   * NotFoundError, FileError: the file cannot be fetched; FormatError: it is malformed,
   * or has another SHA-256; UnsupportedError: its architecture, tensor type or tokenizer
   * is not supported; DeviceMemoryError: it does not fit.
   */
  static async load(
    source: ModelSource,
    options: LoadOptions = {},
  ): Promise<Model> {
    const made = optionsOf("model_options", options, [
      "backend",
      ...sourceOptions,
      ...progressOptions,
    ]);
    const from = sourceOf(source, options);
    options.signal?.throwIfAborted();
    const backend = await backendOf(options.backend);
    const id = backend._engine.newHandle();
    await backend._askWith(options, "load", id, from, made);
    return new Model(backend, id);
  }

  // :api: methods rc_model

  /** The model's tokenizer; if it has none, its calls throw UnsupportedError. */
  get tokenizer(): Tokenizer {
    if (this.#tokenizer === undefined || this.#tokenizer.closed) {
      const id = this._engine.newHandle();
      this._engine.post("tokenizer", this._id, id);
      this.#tokenizer = new Tokenizer(this._engine, id);
    }
    return this.#tokenizer;
  }

  /** @c rc_tokenize */
  tokenize(
    text: string | Uint8Array,
    options?: TokenizeOptions,
  ): Promise<Int32Array> {
    return this.tokenizer.tokenize(text, options);
  }

  /** @c rc_detokenize */
  detokenize(
    tokens: Tokens,
    options?: { special?: boolean },
  ): Promise<string> {
    return this.tokenizer.detokenize(tokens, options);
  }

  /** The metadata of the model's file: numbers, texts and lists. */
  metadata(): Promise<Record<string, unknown>> {
    return this._ask("metadata");
  }

  /**
   * Returns embeddings of texts, one row for each. Models that generate text support it
   * if they were loaded with output: "hidden_rows".
   */
  embed(
    texts: Iterable<string>,
    options: EmbedOptions = {},
  ): Promise<Float32Array[]> {
    return embedTexts(this, texts, options);
  }

  /**
   * Returns how well each document answers the query: probabilities, in their order.
   * Models that generate text support it if they were loaded with output: "scores".
   */
  rerank(
    query: string,
    documents: Iterable<string>,
    options: RerankOptions = {},
  ): Promise<Float32Array> {
    return scoreDocuments(this, query, documents, options);
  }

  /** Makes an empty session; see Session. */
  session(options?: SessionOptions): Session {
    return Session.create(this, options);
  }
}
named(Model, "Model");
