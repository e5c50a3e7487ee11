/** What the page and the worker tell each other. */

/**
 * What the page tells a worker for a thread of the library: the script that is to
 * run in it, and what it hears from and tells instead of the page.
 */
export interface ToThread {
  readonly script: string;
  readonly port: MessagePort;
}

/** A member of a struct of options, and what it is. */
export type Entry = readonly [member: string, value: number | bigint | string];

/** What the page tells: the first message, calls, and calls that are ended. */
export type ToWorker =
  | { readonly start: { readonly threads: boolean; readonly workers: number } }
  | {
      readonly call: number;
      readonly name: string;
      readonly args: readonly unknown[];
    }
  | { readonly abort: number };

/** A status and its message; `name` is of what is no status. */
export interface Failure {
  readonly status: number;
  readonly message: string;
}

/** How far a call is: of the whole, and of what it does now. */
export interface Progress {
  readonly stage: "fetch" | "load";
  /** Bytes that are there; 0 while loading. */
  readonly bytes: number;
  /** Bytes that there will be; 0: not known. */
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

/** A model's file as it is told to the worker. */
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
