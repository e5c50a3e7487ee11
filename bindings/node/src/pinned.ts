/** Memory that devices move numbers from and to by themselves. */
import { markAsUntransferable } from "node:worker_threads";
import { Backend } from "./backend";
import { Handle, need, type Proxy } from "./handle";
import { native } from "./native";

/** Whose memory a buffer shows. */
const owners = new WeakMap<ArrayBuffer, Proxy>();

/** The proxy of the pinned memory that a buffer shows, if it does. */
export function pinnedOf(buffer: ArrayBuffer): Proxy | undefined {
  return owners.get(buffer);
}

/**
 * Memory that a device moves numbers from and to by itself, without a copy in
 * between: Tensor.from, Tensor.readInto and Tensor.borrow take typed arrays of its
 * buffer as any others. It counts within the backend's memoryLimit.
 *
 * The memory goes with this and the buffer, when both are closed or collected. Tensors
 * that were borrowed of it keep it longer.
 */
export class Pinned extends Handle {
  readonly #buffer: ArrayBuffer;

  /**
   * @param byteLength at least 1; the bytes are 0 at first
   * @param device one of the backend's; "" is where its new tensors lie
   * @throws {UnsupportedError} the device has none, as those of webgpu
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

  /** Also empties the buffer, and with it all arrays of it. */
  override close(): void {
    if (!this.closed) {
      owners.delete(this.#buffer);
      native.pinned_hide(this.#buffer);
    }
    super.close();
  }
}
