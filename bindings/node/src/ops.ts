/** Backends whose ops are JavaScript functions. */
import { dtypeName, dtypeNumber, type Dtype } from "./dtypes";
import { RuncibleError } from "./errors";
import { shown } from "./handle";
import { native } from "./native";

/** Elements of an operand: f16 and bf16 by their bits, blocks as bytes. */
export type Elements =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint16Array
  | Uint8Array;

/**
 * An operand of an op: memory of the library, valid during the call only. An operand
 * that is kept is empty afterwards. Inputs must not be written, except caches that an
 * op writes; an output may share the memory of an input where plugin_ops.h allows it.
 */
export interface Operand {
  data: Elements;
  /** The slowest dimension first. */
  shape: readonly number[];
  /** "f32", "q8_0". */
  dtype: Dtype;
  /** A number that identifies a weight and is never used again; 0 for other operands. */
  weight: number;
}

/** Functions by their names: { function: "silu" }. */
export type Parameters = Readonly<Record<string, any>>;

/** One op to compute. */
export interface OpCall {
  /** The name in lower case: "rms_norm". */
  op: string;
  /** In the order of plugin_ops.h; null for absent operands. */
  inputs: readonly (Operand | null)[];
  outputs: readonly Operand[];
  params: Parameters;
}

/**
 * Computes an op: receives the inputs and the outputs in the order of plugin_ops.h,
 * null for absent ones, and the parameters. It may return a promise; the memory stays
 * valid until that is settled.
 */
export type OpFunction = (...operands: any[]) => unknown;

/** An object that computes ops: a function for each by its name, or `compute`. */
export interface OpBackend {
  description?: string;
  /**
   * The ops that it computes, by their names in plugin_ops.h in lower case, with the
   * types that their values may have besides i32: `{ linear: ["f32", "q8_0"] }`.
   */
  capabilities: Readonly<Record<string, readonly Dtype[]>>;
  /**
   * Returns false or throws if the backend cannot be opened; an error is the reason. A
   * text is reported as the driver of its device. It may return a promise.
   */
  health?(): unknown;
  /** Computes ops for which there is no function. */
  compute?(call: OpCall): unknown;
  /** Releases what was kept for a weight that has been freed. */
  forget?(weight: number): void;
  [op: string]: any;
}

export type Native = {
  dtype: number;
  shape: number[];
  weight: number;
  memory: ArrayBuffer;
  bytes: number;
};
export type Done = (status: number, text: string) => void;

/** The longest message that the library keeps, in bytes. */
const ROOM = 460;

const kinds: Record<string, new (m: ArrayBuffer, o: number, n: number) => Elements> = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
  f16: Uint16Array,
  bf16: Uint16Array,
};
const widths: Record<string, number> = {
  f32: 4, f64: 8, i8: 1, i16: 2, i32: 4, i64: 8, f16: 2, bf16: 2,
};

/** Returns the operand that a function receives for a value. @internal */
export function operand(value: Native): Operand {
  const dtype = dtypeName(value.dtype);
  const kind = kinds[dtype] ?? Uint8Array;
  const data = new kind(value.memory, 0, value.bytes / (widths[dtype] ?? 1));
  return { data, shape: value.shape, dtype, weight: value.weight };
}

/** Describes an error and its place, truncated to the library's limit. */
function described(error: unknown): string {
  const text =
    error instanceof Error ? (error.stack ?? String(error)) : String(error);
  return Buffer.from(text).subarray(0, ROOM).toString();
}

function statusOf(error: unknown): number {
  return error instanceof RuncibleError && error.status < 0
    ? error.status
    : native.E_DEVICE;
}

/** Runs a function, which may return a promise, and reports its end. @internal */
export function settle(
  run: () => unknown,
  done: Done,
  good: (result: unknown) => [number, string],
  bad: (error: unknown) => [number, string],
): void {
  try {
    const result = run();
    if (typeof (result as PromiseLike<unknown> | null)?.then === "function") {
      (result as PromiseLike<unknown>).then(
        (value) => done(...good(value)),
        (error) => done(...bad(error)),
      );
    } else {
      done(...good(result));
    }
  } catch (error) {
    done(...bad(error));
  }
}

function health(backend: OpBackend, done: Done): void {
  settle(
    () => backend.health?.(),
    done,
    (said) => {
      if (said === false) {
        return [native.E_BACKEND_UNAVAILABLE, "it says that it is not well"];
      }
      return [0, said === undefined || said === true ? "" : String(said)];
    },
    (error) => [native.E_BACKEND_UNAVAILABLE, described(error)],
  );
}

/** Returns an error as the failure of an op. @internal */
export const failed = (error: unknown): [number, string] => [
  statusOf(error),
  described(error),
];

function compute(
  backend: OpBackend,
  call: { op: string; params: string; inputs: (Native | null)[]; outputs: (Native | null)[] },
  done: Done,
): void {
  settle(
    () => {
      const op = call.op.toLowerCase();
      const params: Parameters = JSON.parse(call.params);
      const inputs = call.inputs.map((each) => each && operand(each));
      const outputs: Operand[] = [];
      for (const each of call.outputs) if (each !== null) outputs.push(operand(each));
      if (typeof backend[op] === "function") {
        return backend[op](...inputs, ...outputs, params);
      }
      return backend.compute!({ op, inputs, outputs, params });
    },
    done,
    () => [0, ""],
    failed,
  );
}

let ops: Set<string> | undefined;

function allOps(): Set<string> {
  if (ops === undefined) {
    ops = new Set();
    for (let code = 1; code < 64; ++code) {
      const name: string | null = native.op_name(code);
      if (name !== null) ops.add(name.toLowerCase());
    }
  }
  return ops;
}

function need(good: boolean, message: string): void {
  if (!good) throw new TypeError(message);
}

/**
 * Registers a backend whose ops an object computes:
 *
 *     registerBackend("sums", {
 *       capabilities: { add: ["f32"] },
 *       add(a, b, out) {
 *         for (let i = 0; i < out.data.length; ++i) out.data[i] = a.data[i] + b.data[i];
 *       },
 *     });
 *     const model = await Model.load("builtin:fable", { backend: await Backend.open("sums,cpu") });
 *
 * The functions run on the thread that registers the backend. Threads of the library
 * wait for them, so that thread must be free, as it is with promises and streams. A call
 * that blocks it runs functions where it computes on that thread, and between the waits
 * of streamSync and generateSync; they must not return promises then. If another thread
 * needs them meanwhile, the op fails after two seconds and reports the reason. An
 * exception that a function throws is the failure of the op.
 *
 * @throws {RuncibleError} the name is invalid or taken
 *
 * @throws {RuncibleError} the name is wrong or taken
 */
export function registerBackend(name: string, backend: OpBackend): void {
  need(typeof name === "string", `the name must be a string, not ${shown(name)}`);
  need(
    typeof backend === "object" && backend !== null,
    `a backend must be an object, not ${shown(backend)}`,
  );
  const { capabilities, description } = backend;
  need(
    typeof capabilities === "object" && capabilities !== null,
    "capabilities must list the ops that the backend computes and their types: " +
      '{ add: ["f32"] }',
  );
  const able: Record<string, number[]> = {};
  for (const [op, types] of Object.entries(capabilities)) {
    if (!allOps().has(op)) {
      throw new RangeError(
        `the backend ${name} says that it computes ${op}, which is no op; ` +
          `ops are ${[...allOps()].sort().join(", ")}`,
      );
    }
    need(Array.isArray(types), `the types of ${op} must be a list: ["f32"]`);
    need(
      typeof backend[op] === "function" || typeof backend.compute === "function",
      `the backend ${name} says that it computes ${op}, but has neither a ` +
        `function ${op} nor one called compute`,
    );
    able[op] = types.map(dtypeNumber);
  }
  native.op_backend_register(
    name,
    description ?? "functions of JavaScript",
    able,
    (call: any, done: Done) => {
      if (typeof call === "number") {
        try {
          backend.forget?.(call);
        } catch {
          // The weight is freed in any case.
        }
      } else if (call === null) {
        health(backend, done);
      } else {
        compute(backend, call, done);
      }
    },
  );
}

/**
 * Removes a backend that registerBackend has added: it cannot be found or opened any
 * more, and its name is free. Backends that are open continue to work.
 */
export function unregisterBackend(name: string): void {
  need(typeof name === "string", `the name must be a string, not ${shown(name)}`);
  native.op_backend_unregister(name);
}
