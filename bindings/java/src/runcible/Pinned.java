package runcible;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory that a device copies from and to directly. {@link
 * Tensor#of(Backend, Dtype, ByteBuffer, long...)}, {@link
 * Tensor#read(ByteBuffer)} and {@link Tensor#borrow} take its buffers like any
 * other direct buffers.
 *
 * <p>It counts within the memory limit of the backend. It is released, like the
 * memory of all direct buffers, some time after the collector has found the
 * buffer and all buffers made of it. Tensors that borrow it keep it.
 */
public final class Pinned {
  private static final long LONGEST_WAIT_MS = 128;

  private Pinned() {}

  /**
   * Allocates memory for the device on which new tensors of the backend lie.
   */
  public static ByteBuffer allocate(Backend backend, int bytes) {
    return allocate(backend, bytes, "");
  }

  /**
   * Allocates a direct buffer, in the byte order of the machine.
   *
   * @param bytes at least 1; they are zero at first
   * @param device a device of the backend
   * @throws RuncibleException.DeviceMemory the device or the memory limit has
   *     no room, also after a collection
   * @throws RuncibleException.Unsupported the device has no such memory, for
   *     example a device of webgpu
   */
  public static ByteBuffer allocate(
      Backend backend, int bytes, String device) {
    for (long wait = 1;; wait *= 2) {
      try {
        return attempt(backend, bytes, device);
      } catch (RuncibleException.DeviceMemory
          | RuncibleException.OutOfMemory failure) {
        // Unreachable buffers may hold the missing memory.
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
      // Slices and duplicates of a buffer keep it.
      Handle.CLEANER.register(made, memory::close);
    } catch (RuntimeException | Error failure) {
      memory.close();
      throw failure;
    }
    return made.order(ByteOrder.nativeOrder());
  }
}
