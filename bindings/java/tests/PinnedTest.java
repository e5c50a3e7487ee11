import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.Dtype;
import runcible.Graph;
import runcible.Pinned;
import runcible.RuncibleException;
import runcible.Tensor;

/** Memory that devices copy from and to directly. */
@Timeout(300)
class PinnedTest {
  private final Backend backend = Backend.open("cpu");

  @ParameterizedTest
  @ValueSource(strings = {"cpu", "reference", "opencl", "vulkan"})
  void copiesToTheDeviceAndBack(String spec) {
    Backend device;
    try {
      device = Backend.open(spec);
    } catch (RuncibleException.BackendUnavailable unavailable) {
      Assumptions.abort(unavailable.getMessage());
      return;
    }
    ByteBuffer from = Pinned.allocate(device, 400);
    ByteBuffer to = Pinned.allocate(device, 408);
    FloatBuffer numbers = from.asFloatBuffer();
    for (int i = 0; i < 100; ++i) {
      assertEquals(0, numbers.get(i));
      numbers.put(i, i);
    }
    Tensor x = Tensor.of(device, Dtype.F32, from, 10, 10);
    numbers.put(99, 7); // does not change the tensor, a copy
    x.neg().read(to.position(4));
    assertEquals(404, to.position());
    FloatBuffer results = to.asFloatBuffer();
    to.position(4);
    for (int i = 0; i < 100; ++i) {
      assertEquals(-(float) i, to.getFloat());
    }
    assertEquals(1, results.remaining());
  }

  private void collectUntil(long bytes) throws InterruptedException {
    for (int i = 0; i < 6000 && backend.usage().memory() > bytes; ++i) {
      System.gc();
      Thread.sleep(5);
    }
  }

  /** Slices of the buffer, and tensors that borrow them, keep the memory. */
  @Test
  void slicesAndTensorsKeepTheMemory() throws InterruptedException {
    long before = backend.usage().memory();
    int size = 1 << 20;
    FloatBuffer kept = null;
    Tensor lent = null;
    for (int i = 0; i < 10; ++i) {
      ByteBuffer memory = Pinned.allocate(backend, size, "cpu");
      assertEquals(ByteOrder.nativeOrder(), memory.order());
      memory.putFloat(8, i);
      ByteBuffer part = memory.slice(8, 4).order(ByteOrder.nativeOrder());
      if (i == 3) {
        kept = part.asFloatBuffer();
      }
      if (i == 5) {
        lent = Tensor.borrow(backend, Dtype.F32, part, 1);
      }
    }
    collectUntil(before + 3L * size);
    assertTrue(backend.usage().memory() <= before + 3L * size);
    assertTrue(backend.usage().memory() >= before + 2L * size);
    assertEquals(3, kept.get(0));
    assertArrayEquals(new float[] {5}, lent.toFloats());
    Tensor x = lent;
    Graph graph = Graph.record(
        backend, List.of(x), in -> List.of(in.get(0).add(x)));
    x.close();
    System.gc();
    assertArrayEquals(
        new float[] {6},
        graph.run(Tensor.of(backend, new float[] {1}, 1)).get(0).toFloats());
  }

  /** Collects first when there is no room. */
  @Test
  void lostBuffersMakeRoom() {
    Backend limited =
        Backend.open("cpu", new BackendOptions().memoryLimit(1 << 20));
    for (int i = 0; i < 5; ++i) {
      Pinned.allocate(limited, 600000).put(599999, (byte) 1);
    }
    assertThrows(
        RuncibleException.DeviceMemory.class,
        () -> Pinned.allocate(limited, 2 << 20));
  }

  @Test
  void invalidArgumentsThrow() {
    assertThrows(
        RuncibleException.InvalidArgument.class,
        () -> Pinned.allocate(backend, -1));
    ByteBuffer memory = Pinned.allocate(backend, 8);
    Tensor x = Tensor.of(backend, new float[] {1, 2, 3}, 3);
    assertThrows(BufferOverflowException.class, () -> x.read(memory));
    assertThrows(
        ReadOnlyBufferException.class,
        () -> x.read(ByteBuffer.allocateDirect(12).asReadOnlyBuffer()));
    assertThrows(
        IllegalArgumentException.class, () -> x.read(ByteBuffer.allocate(12)));
    assertThrows(
        IllegalArgumentException.class,
        () -> Tensor.of(backend, Dtype.F32, ByteBuffer.allocate(12), 3));
    assertThrows(
        RuncibleException.InvalidArgument.class,
        () -> Tensor.of(backend, Dtype.F32, memory, 3));
    Backend closed = Backend.open("cpu");
    closed.close();
    assertThrows(
        RuncibleException.Closed.class, () -> Pinned.allocate(closed, 8));
  }
}
