/** Tensors and ops, for computing without a model. */
import { markAsUntransferable } from "node:worker_threads";
import { Backend } from "./backend";
import { dtypeName, dtypeNumber, type Dtype } from "./dtypes";
import {
  Handle,
  need,
  plain,
  optionsOf,
  shown,
  type Proxy,
} from "./handle";
import { chosen, constants, native } from "./native";
import { pinnedOf } from "./pinned";

/** Arrays of number types that JavaScript has. */
export type Numbers =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array;

export interface TensorOptions {
  /** The type that the numbers are stored in; see quantize. */
  dtype?: Dtype | undefined;
}

export interface RandomOptions {
  // :api: options rc_random_options
}

export interface RopeOptions {
  // :api: options rc_rope_options
}

export interface AttentionOptions {
  // :api: options rc_attention_options
}

/** Vertical and horizontal. */
export type Pair = readonly [number, number];

export interface Conv2dOptions {
  bias?: Tensor | undefined;
  // :api: options rc_conv2d_options
}

/** @c rc_function */
export type FusedFunction =
  // :api: values rc_function

const arrays = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
};

const functions = constants("FUNCTION_");

/** The dimension of a reduction over all dimensions. */
const ALL = -(2 ** 31);

/** @c tensor.h */
export class Tensor extends Handle {
  private constructor(proxy: Proxy) {
    super(proxy);
  }

  /** Makes a tensor of a proxy. @internal */
  static _of(proxy: Proxy): Tensor {
    return new Tensor(proxy);
  }

  // :api: release rc_tensor

  /** Makes a tensor of the caller's numbers, which are copied; number[] is f32. */
  static from(
    numbers: Numbers | readonly number[],
    shape: readonly number[],
    backend: Backend,
    options: TensorOptions = {},
  ): Tensor {
    const data = Array.isArray(numbers) ? Float32Array.from(numbers) : numbers;
    const stored = kindOf(data);
    if (stored === undefined) {
      throw new TypeError(
        `numbers must be an array or a typed array of ` +
          `${Object.keys(arrays).join(", ")}, not ${shown(numbers)}`,
      );
    }
    const sizes = plain(shape);
    const made = new Tensor(
      native.tensor_from_data(
        need(backend, Backend, "backend"),
        dtypeNumber(stored),
        sizes,
        data,
      ),
    );
    const { dtype = stored } = options;
    return dtype === stored ? made : made.quantize(dtype);
  }

  /** @c rc_tensor_from_data */
  static fromBytes(
    bytes: Uint8Array,
    shape: readonly number[],
    dtype: Dtype,
    backend: Backend,
  ): Tensor {
    const sizes = plain(shape);
    const handle = need(backend, Backend, "backend");
    return new Tensor(
      native.tensor_from_data(handle, dtypeNumber(dtype), sizes, bytes),
    );
  }

  /**
   * Makes a tensor over the memory of a typed array, which is not copied and is kept as
   * long as the library needs it. Ops read what is later written to the array, and ops
   * whose result goes into the tensor write there; do not write while a call uses it. For
   * types that JavaScript does not have, pass their bytes and a dtype.
   *
   * The array's buffer cannot be transferred to another thread any more, because the
   * memory would go with it: postMessage and structuredClone copy it, or refuse (from
   * Node 21 on). Its method transfer must not be called.
   *
   * @throws {TypeError} the buffer is shared or can be resized
   */
  static borrow(
    numbers: Numbers | Uint16Array | Uint8Array,
    shape: readonly number[],
    backend: Backend,
    options: TensorOptions = {},
  ): Tensor {
    const dtype = options.dtype ?? kindOf(numbers);
    if (!ArrayBuffer.isView(numbers) || dtype === undefined) {
      throw new TypeError(
        `numbers must be a typed array of ${Object.keys(arrays).join(", ")}, or of ` +
          `bytes with a dtype, not ${shown(numbers)}`,
      );
    }
    const { buffer } = numbers;
    if (!(buffer instanceof ArrayBuffer) || (buffer as { resizable?: boolean }).resizable) {
      throw new TypeError(
        "memory that is shared or can be resized cannot be borrowed; Tensor.from copies",
      );
    }
    const sizes = plain(shape);
    const device = need(backend, Backend, "backend");
    const pinned = pinnedOf(buffer);
    if (pinned !== undefined) {
      const { byteOffset, byteLength } = numbers;
      return new Tensor(
        native.pinned_borrow(
          device, dtypeNumber(dtype), sizes, pinned, byteOffset, byteLength,
        ),
      );
    }
    const made = new Tensor(
      native.tensor_borrow(device, dtypeNumber(dtype), sizes, numbers, buffer),
    );
    markAsUntransferable(buffer);
    return made;
  }

  // :api: makers

  /** The type of the elements: "f32", "q4_k". */
  get dtype(): Dtype {
    return dtypeName(native.tensor_dtype(this._handle));
  }

  /** The dimensions, slowest first. */
  get shape(): number[] {
    return native.tensor_shape(this._handle);
  }

  /** The number of elements. */
  get size(): number {
    return native.tensor_size(this._handle)[0];
  }

  /** The size of the numbers in bytes. */
  get byteLength(): number {
    return native.tensor_size(this._handle)[1];
  }

  /** @c rc_tensor_device */
  get device(): string {
    return native.tensor_device(this._handle);
  }

  /** @c rc_tensor_to */
  to(device = "", backend?: Backend): Tensor {
    const other =
      backend === undefined ? null : need(backend, Backend, "backend");
    return new Tensor(native.tensor_to(this._handle, other, device));
  }

  /** @c rc_op_choose */
  choice(): Record<string, unknown> {
    return JSON.parse(native.op_choose(this._handle));
  }

  /** @c rc_tensor_read */
  read(): ArrayBuffer {
    return native.tensor_read(this._handle, this.byteLength);
  }

  /**
   * Writes the numbers, row-major, to an array of the caller with their type and count,
   * or to an array of their bytes for types that JavaScript does not have.
   *
   * @returns the array
   */
  readInto<Into extends Numbers | Uint16Array | Uint8Array>(numbers: Into): Into {
    const kind = kindOf(numbers);
    const bytes = numbers instanceof Uint8Array || numbers instanceof Uint16Array;
    if (!(numbers?.buffer instanceof ArrayBuffer) || (kind !== this.dtype && !bytes)) {
      throw new TypeError(
        `numbers of ${this.dtype} cannot be written to ${shown(numbers)}`,
      );
    }
    native.tensor_read_into(this._handle, numbers);
    return numbers;
  }

  /**
   * The numbers, row-major, in an array that the device writes directly. Types that
   * JavaScript does not have are decoded to a Float32Array.
   */
  toArray(): Numbers {
    const { dtype } = this;
    if (!Object.hasOwn(arrays, dtype)) return this.dequantize().toArray();
    return new arrays[dtype as keyof typeof arrays](this.read());
  }

  // Views and ops.

  // :api: ops

  /** @c rc_op_fused_linear */
  fusedLinear(
    weight: Tensor,
    options: { bias?: Tensor; function?: FusedFunction } = {},
  ): Tensor {
    return new Tensor(
      native.op_fused_linear(
        this._handle,
        need(weight, Tensor, "weight"),
        optional(options.bias, "bias"),
        chosen(functions, "function", options.function ?? "none"),
      ),
    );
  }

  /** @c rc_op_conv2d */
  conv2d(weight: Tensor, options: Conv2dOptions = {}): Tensor {
    const made = optionsOf("conv2d_options", options, {
      bias() {},
      stride: (pair: Pair, made) => made.set_stride(...pair),
      padding: (pair: Pair, made) => made.set_padding(...pair),
      dilation: (pair: Pair, made) => made.set_dilation(...pair),
    });
    return new Tensor(
      native.op_conv2d(
        this._handle,
        need(weight, Tensor, "weight"),
        optional(options.bias, "bias"),
        made,
      ),
    );
  }

  #made(op: (x: Proxy, ...given: any[]) => Proxy, ...given: unknown[]): Tensor {
    return new Tensor(op(this._handle, ...given));
  }

  #reduced(
    op: (x: Proxy, dimension: number, keep: boolean) => Proxy,
    dimension = ALL,
    options: { keep?: boolean } = {},
  ): Tensor {
    return new Tensor(op(this._handle, dimension, options.keep ?? false));
  }
}

/** Returns the type of the elements of an array. */
function kindOf(numbers: unknown): keyof typeof arrays | undefined {
  const found = Object.entries(arrays).find(([, kind]) => numbers instanceof kind);
  return found?.[0] as keyof typeof arrays | undefined;
}

function operand(tensor: Tensor, name: string): Proxy {
  return need(tensor, Tensor, name);
}

function optional(tensor: Tensor | undefined, name: string): Proxy {
  return tensor === undefined ? null : need(tensor, Tensor, name);
}
