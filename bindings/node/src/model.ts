/** Models on a device. */
import { Backend, backendOf, backendOfSync } from "./backend";
import type { Dtype } from "./dtypes";
import {
  ModelHandle,
  optionsOf,
  pathOf,
  type Path,
  type Proxy,
} from "./handle";
import { embedTexts, scoreDocuments } from "./embedding";
import { fetchModel, type FetchOptions } from "./hub";
import { native } from "./native";
import { progressOptions, withProgress, type ProgressOptions } from "./progress";
import type * as reports from "./reports";
import type { EmbedOptions, RerankOptions } from "./rows";
import { Session, type SessionOptions } from "./session";
import { planOf, readReport } from "./report_values";
import { Tokenizer } from "./tokenizer";
import type { TokenizeOptions, Tokens } from "./tokens";

/** @c rc_model_options */
export interface ModelOptions {
  /** A backend, or the argument of Backend.open. */
  backend?: Backend | string | undefined;
  // :api: options rc_model_options
}

export type LoadOptions = ModelOptions & ProgressOptions;

function loadOptions(given: LoadOptions | undefined): Proxy {
  return optionsOf("model_options", given, {
    backend: () => {},
    ...progressOptions,
  });
}

/** @c rc_model */
export class Model extends ModelHandle {
  readonly #backend: Backend;
  #tokenizer: Tokenizer | undefined;

  private constructor(proxy: Proxy, backend: Backend) {
    super(proxy);
    this.#backend = backend;
  }

  // :api: release rc_model

  /** @c rc_model_load */
  static async load(path: Path, options: LoadOptions = {}): Promise<Model> {
    const made = loadOptions(options);
    return withProgress(options, async (state) => {
      const backend = await backendOf(options.backend);
      const proxy = await native.model_load_later(
        backend._handle,
        pathOf(path),
        made,
        state,
      );
      return new Model(proxy, backend);
    });
  }

  /**
   * Loads a GGUF file from memory. Its bytes are copied at once. `name` is its name in
   * messages.
   */
  static async fromBytes(
    bytes: Uint8Array,
    options: LoadOptions & { name?: string | undefined } = {},
  ): Promise<Model> {
    const { name, ...others } = options;
    const made = loadOptions(others);
    return withProgress(others, async (state) => {
      // The caller may change the bytes while the backend is opened.
      const copy = options.backend instanceof Backend ? bytes : bytes.slice();
      const backend = await backendOf(options.backend);
      const proxy = await native.model_load_bytes_later(
        backend._handle,
        copy,
        name ?? null,
        made,
        state,
      );
      return new Model(proxy, backend);
    });
  }

  /**
   * Fetches the missing files of a model on a hub, and loads it. The source is
   * "OWNER/NAME", "OWNER/NAME:FILE" or "OWNER/NAME:Q4_K_M", with or without
   * "hf:" before it; see fetchModel. `progress` and `signal` apply to loading.
   */
  static async fromHub(
    source: string,
    options: LoadOptions & Omit<FetchOptions, "to"> = {},
  ): Promise<Model> {
    const { revision, cache, ...others } = options;
    const named = source.startsWith("hf:") ? source : `hf:${source}`;
    return Model.load(await fetchModel(named, { revision, cache }), others);
  }

  /** The same as load, blocking; `progress` and `signal` are ignored. */
  static loadSync(path: Path, options: ModelOptions = {}): Model {
    const made = loadOptions(options);
    const backend = backendOfSync(options.backend);
    return new Model(
      native.model_load(backend._handle, pathOf(path), made),
      backend,
    );
  }

  /** The backend that the model was loaded through. */
  get backend(): Backend {
    return this.#backend;
  }

  // :api: methods rc_model

  /** The model's tokenizer; UnsupportedError if it has none. */
  get tokenizer(): Tokenizer {
    const handle = this._handle;
    this.#tokenizer ??= new Tokenizer(native.model_get_tokenizer(handle));
    return this.#tokenizer;
  }

  /** @c rc_tokenize */
  tokenize(text: string | Uint8Array, options?: TokenizeOptions): Int32Array {
    return this.tokenizer.tokenize(text, options);
  }

  /** @c rc_detokenize */
  detokenize(tokens: Tokens, options?: { special?: boolean }): string {
    return this.tokenizer.detokenize(tokens, options);
  }

  /** The metadata of the model's file: numbers, texts and lists. */
  get metadata(): Record<string, unknown> {
    const info = native.model_get_info(this._handle);
    const metadata: Record<string, unknown> = {};
    for (let i = 0; i < native.model_info_metadata_count(info); ++i) {
      const [key] = native.model_info_metadata(info, i);
      metadata[key] = JSON.parse(native.model_info_value(info, key, 0));
    }
    return metadata;
  }

  /**
   * Returns embeddings of texts, one row for each. Models that generate text support it
   * if they were loaded with output: "hiddenRows".
   */
  embed(
    texts: Iterable<string>,
    options: EmbedOptions = {},
  ): Promise<Float32Array[]> {
    return embedTexts(this._handle, texts, options);
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
    return scoreDocuments(this._handle, query, documents, options);
  }

  /** Makes an empty session; see Session. */
  session(options?: SessionOptions): Session {
    return Session.create(this, options);
  }
}

/** @c rc_model_plan rc_plan_report */
export async function plan(
  path: Path,
  options: ModelOptions = {},
): Promise<reports.Plan> {
  const made = loadOptions(options);
  const backend = await backendOf(options.backend);
  return planOf(
    await native.model_plan_later(pathOf(path), made, backend._handle),
  );
}

/** @c rc_model_verify */
export async function verify(path: Path): Promise<void> {
  await native.model_verify_later(pathOf(path));
}
