/** Memory that devices transfer numbers to and from directly. */
import { markAsUntransferable } from "node:worker_threads";
import { Backend } from "./backend";
import { Handle, need, type Proxy } from "./handle";
import { native } from "./native";

/** The pinned memory that each buffer exposes. */
const owners = new WeakMap<ArrayBuffer, Proxy>();

/** Returns the proxy of the pinned memory that a buffer exposes, if it does. */
export function pinnedOf(buffer: ArrayBuffer): Proxy | undefined {
  return owners.get(buffer);
}

/**
 * Memory that a device transfers numbers to and from directly, without a copy in
 * between: Tensor.from, Tensor.readInto and Tensor.borrow take typed arrays over its
 * buffer like any others. It counts within the backend's memoryLimit.
 *
 * The memory is freed when both this and the buffer are closed or collected. Tensors
 * that borrow it keep it longer.
 */
export class Pinned extends Handle {
  readonly #buffer: ArrayBuffer;

  /**
   * @param byteLength at least 1; the bytes are 0 at first
   * @param device a device of the backend; "" is the device of its new tensors
   * @throws {UnsupportedError} the device has no such memory, like those of webgpu
   */
  constructor(backend: Backend, byteLength: number, device = "") {
    super(native.pinned_make(need(backend, Backend, "backend"), device, byteLength));
    this.#buffer = native.pinned_show(this._handle);
    owners.set(this.#buffer, this._handle);
    markAsUntransferable(this.#buffer);
  }

  // :api: release rc_pinned

  /** The memory. */
  get buffer(): ArrayBuffer {
    void this._handle; // throws once it is closed
    return this.#buffer;
  }

  /** Also empties the buffer, and with it all arrays over it. */
  override close(): void {
    if (!this.closed) {
      owners.delete(this.#buffer);
      native.pinned_hide(this.#buffer);
    }
    super.close();
  }
}
