/** Messages between the page and the worker. */

/**
 * The first message of the page to a worker for a thread of the library: the script to
 * run in it, and the port that it uses in place of the page.
 */
export interface ToThread {
  readonly script: string;
  readonly port: MessagePort;
}

/** A member of a struct of options, and its value. */
export type Entry = readonly [member: string, value: number | bigint | string];

/** Messages of the page: the first message, calls, and calls to abort. */
export type ToWorker =
  | { readonly start: { readonly threads: boolean; readonly workers: number } }
  | {
      readonly call: number;
      readonly name: string;
      readonly args: readonly unknown[];
    }
  | { readonly abort: number };

/** A status and its message. */
export interface Failure {
  readonly status: number;
  readonly message: string;
}

/** The progress of a call: of the whole, and of its current stage. */
export interface Progress {
  readonly stage: "fetch" | "load";
  /** The bytes fetched; 0 while loading. */
  readonly bytes: number;
  /** The size in bytes; 0: unknown. */
  readonly total: number;
}

export interface LogprobsValues {
  readonly logprobs: Float32Array;
  readonly topTokens: Int32Array;
  readonly topLogprobs: Float32Array;
}

/** An event of a request. */
export type EventValues = { readonly key: number } & (
  | {
      readonly kind: "piece" | "reasoning";
      readonly text: string;
      readonly tokens: Int32Array;
      readonly logprobs: LogprobsValues | undefined;
    }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly name: string;
      readonly json: string;
    }
  | {
      readonly kind: "end";
      readonly status: number;
      readonly message: string;
      readonly reason: string;
      readonly seed: bigint;
      readonly numbers: Readonly<Record<string, number>>;
    }
);

export type FromWorker =
  | { readonly started: string }
  /** Asks for a worker for a thread. */
  | { readonly thread: ToThread }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly failure: Failure }
  | {
      readonly progress: number;
      readonly fraction: number;
      readonly of: Progress;
    }
  | { readonly events: readonly EventValues[] };

/** A model's file as the page passes it to the worker. */
export type Source =
  | { readonly builtin: string; readonly from: string | undefined }
  | {
      readonly urls: readonly string[];
      readonly hashes: readonly string[];
      readonly cache: boolean;
    }
  | { readonly files: readonly { readonly name: string; readonly blob: Blob }[] };

/** A prompt and the options of a generation. */
export interface Wanted {
  readonly options: readonly Entry[];
  readonly prompt: string | Uint8Array | Int32Array | undefined;
  readonly stop: readonly string[];
  readonly stopTokens: Int32Array;
  readonly biasTokens: Int32Array;
  readonly biases: Float32Array;
  readonly grammar: number | undefined;
}
