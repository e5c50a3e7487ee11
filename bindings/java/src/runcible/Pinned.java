package runcible;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory that a device moves numbers from and to by itself, without a copy in
 * between. {@link Tensor#of(Backend, Dtype, ByteBuffer, long...)}, {@link
 * Tensor#read(ByteBuffer)} and {@link Tensor#borrow} take its buffers as any
 * other direct ones.
 *
 * <p>It counts within the memory limit of the backend, and is given back, as
 * all memory of direct buffers, some time after the collector has found the
 * buffer and those that were made of it. Tensors that were borrowed of it keep
 * it.
 */
public final class Pinned {
  private static final long LONGEST_WAIT_MS = 128;

  private Pinned() {}

  /** The same where new tensors of the backend lie. */
  public static ByteBuffer allocate(Backend backend, int bytes) {
    return allocate(backend, bytes, "");
  }

  /**
   * A direct buffer, in the order of the machine.
   *
   * @param bytes at least 1; they are zero at first
   * @param device one of the backend's
   * @throws RuncibleException.DeviceMemory the device or the memory limit has no
   *     room, also after a collection
   * @throws RuncibleException.Unsupported the device has no such memory, as
   *     those of webgpu
   */
  public static ByteBuffer allocate(
      Backend backend, int bytes, String device) {
    for (long wait = 1;; wait *= 2) {
      try {
        return attempt(backend, bytes, device);
      } catch (RuncibleException.DeviceMemory
          | RuncibleException.OutOfMemory failure) {
        // Buffers that nobody has any more may hold what is lacking.
        if (wait > LONGEST_WAIT_MS || !collect(wait)) {
          throw failure;
        }
      }
    }
  }

  private static boolean collect(long wait) {
    System.gc();
    try {
      Thread.sleep(wait);
      return true;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static ByteBuffer attempt(
      Backend backend, int bytes, String device) {
    pinned memory = new pinned(
        (Long) Native.pinned_make(backend.handle, Text.name(device), bytes));
    ByteBuffer made;
    try {
      made = (ByteBuffer) Native.pinned_show(memory);
      // Buffers that are made of it keep it, and so do those of them.
      Handle.CLEANER.register(made, memory::close);
    } catch (RuntimeException | Error failure) {
      memory.close();
      throw failure;
    }
    return made.order(ByteOrder.nativeOrder());
  }
}
