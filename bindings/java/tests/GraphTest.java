import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.BackendSwitchOptions;
import runcible.CustomOp;
import runcible.CustomOpOptions;
import runcible.Dtype;
import runcible.Graph;
import runcible.Model;
import runcible.RuncibleException;
import runcible.Tensor;

/** Graphs, opening and switching in a thread, and borrowed memory. */
@Timeout(300)
class GraphTest {
  private final Backend backend = Backend.open("cpu");

  private Tensor tensor(float... numbers) {
    return Tensor.of(backend, numbers, numbers.length);
  }

  @Test
  void recordingReportsExceptions() {
    assertThrows(
        ArithmeticException.class,
        () -> Graph.record(backend, List.of(tensor(1, 2)), in -> {
          throw new ArithmeticException("mine");
        }));
  }

  @Test
  void deadlinesAndCancellingEndRuns() throws Exception {
    Tensor x = tensor(1, 2);
    CustomOp endless = CustomOp.of(
        new CustomOpOptions().signature("x F32 [n] -> y F32 [n]"), call -> {
          while (!call.stopped()) {
            LockSupport.parkNanos(1_000_000);
          }
        });
    Graph graph =
        Graph.record(backend, List.of(x), in -> endless.compute(in));
    var late = assertThrows(
        RuncibleException.Timeout.class,
        () -> graph.run(List.of(x), Duration.ofNanos(1_200_000)));
    // A deadline is rounded up: no run ends before its time.
    assertTrue(late.getMessage().contains(" 2 ms"), late.getMessage());
    CompletableFuture<List<Tensor>> future = graph.runAsync(x);
    CompletableFuture<List<Tensor>> other = graph.runAsync(x);
    cancelUntilDone(graph, future, other);
    assertThrows(RuncibleException.Cancelled.class, other::get);
    assertThrows(RuncibleException.Cancelled.class, future::get);
    // Completing the future of one run also ends the other run of the graph.
    boolean ended = false;
    for (int wait = 10; !ended; wait *= 2) {
      CompletableFuture<List<Tensor>> lost = graph.runAsync(x);
      CompletableFuture<List<Tensor>> concurrent = graph.runAsync(x);
      Thread.sleep(wait);
      lost.complete(List.of());
      try {
        concurrent.get(wait, TimeUnit.MILLISECONDS);
      } catch (RuncibleException.Cancelled expected) {
        ended = true;
      } catch (TimeoutException early) { // it had not begun
        cancelUntilDone(graph, concurrent);
      }
    }
  }

  /** Cancels repeatedly, as cancelling has no effect before a run has begun. */
  private static void cancelUntilDone(
      Graph graph, CompletableFuture<?>... runs) throws Exception {
    for (CompletableFuture<?> run : runs) {
      while (!run.isDone()) {
        graph.cancel();
        Thread.sleep(5);
      }
    }
  }

  @Test
  void opensInAThread() throws Exception {
    List<Double> fractions = new ArrayList<>();
    Backend opened = Backend.openAsync(
        "cpu", new BackendOptions().threads(1), fractions::add).get();
    assertEquals("cpu:0", opened.device().id());
    assertEquals(1.0, fractions.get(fractions.size() - 1));
    assertEquals(
        Backend.discover().automatic(),
        Backend.discoverAsync().get().automatic());
    var unknown = assertThrows(
        ExecutionException.class, Backend.openAsync("nosuch")::get);
    assertInstanceOf(RuncibleException.NotFound.class, unknown.getCause());
    assertThrows(
        IllegalStateException.class,
        () -> Backend.open("cpu", new BackendOptions(), fraction -> {
          throw new IllegalStateException("enough");
        }));
    var ended = assertThrows(
        ExecutionException.class,
        Backend.openAsync("cpu", new BackendOptions(), fraction -> {
          throw new IllegalStateException("enough");
        })::get);
    assertInstanceOf(IllegalStateException.class, ended.getCause());
    // The opening waits until it is cancelled.
    CountDownLatch cancelled = new CountDownLatch(1);
    CompletableFuture<Backend> lost = Backend.openAsync(
        "cpu", new BackendOptions(), fraction -> {
          try {
            cancelled.await();
          } catch (InterruptedException error) {
            throw new IllegalStateException(error);
          }
        });
    lost.cancel(true);
    cancelled.countDown();
    assertThrows(CancellationException.class, lost::get);
  }

  @Test
  void switchesTheDeviceInPlace() throws Exception {
    Backend moving = Backend.open("cpu");
    Model moved = Model.load("builtin:fable", moving);
    List<Double> fractions = new ArrayList<>();
    moving.switchToAsync(
        "reference", new BackendSwitchOptions(), fractions::add).get();
    assertEquals("reference:0", moved.report().device());
    assertEquals(1.0, fractions.get(fractions.size() - 1));
    assertThrows(
        ArithmeticException.class,
        () -> moving.switchTo("cpu", new BackendSwitchOptions(), fraction -> {
          throw new ArithmeticException("not now");
        }));
    // The switch waits until it is cancelled.
    CountDownLatch cancelled = new CountDownLatch(1);
    CompletableFuture<Void> lost = moving.switchToAsync(
        "cpu", new BackendSwitchOptions(), fraction -> {
          try {
            cancelled.await();
          } catch (InterruptedException error) {
            throw new IllegalStateException(error);
          }
        });
    lost.cancel(true);
    cancelled.countDown();
    assertThrows(CancellationException.class, lost::get);
    assertEquals("reference:0", moving.device().id());
  }

  private static ByteBuffer direct(float... numbers) {
    ByteBuffer made = ByteBuffer.allocateDirect(numbers.length * Float.BYTES)
        .order(ByteOrder.nativeOrder());
    made.asFloatBuffer().put(numbers);
    return made;
  }

  @Test
  void borrowsDirectBuffers() {
    ByteBuffer bytes = direct(9, 1, -2, 3, 9);
    FloatBuffer numbers = bytes.asFloatBuffer();
    Tensor x = Tensor.borrow(
        backend, Dtype.F32, bytes.position(4).limit(16), 3);
    assertArrayEquals(new float[] {1, 0, 3}, x.relu().toFloats());
    numbers.put(1, -7); // changes the tensor
    assertArrayEquals(new float[] {0, 0, 3}, x.relu().toFloats());
    tensor(1, 2, 3).into(x).neg(); // writes to the buffer
    assertEquals(-1, numbers.get(1));
    assertEquals(-3, numbers.get(3));
    assertEquals(9, numbers.get(4));
    x.close();
    assertThrows(
        IllegalArgumentException.class,
        () -> Tensor.borrow(backend, Dtype.F32, ByteBuffer.allocate(4), 1));
    assertThrows(
        IllegalArgumentException.class,
        () -> Tensor.borrow(
            backend, Dtype.F32, direct(1).asReadOnlyBuffer(), 1));
    var misfit = assertThrows(
        RuncibleException.InvalidArgument.class,
        () -> Tensor.borrow(backend, Dtype.F32, direct(1, 2), 3));
    assertFalse(misfit.getMessage().contains("rc_"), misfit.getMessage());
  }

  @Test
  void keepsTheBufferAsLongAsTheTensor() throws Exception {
    ByteBuffer bytes = direct(1, -2);
    WeakReference<ByteBuffer> seen = new WeakReference<>(bytes);
    Tensor x = Tensor.borrow(backend, Dtype.F32, bytes, 2);
    Graph graph = Graph.record(
        backend, List.of(tensor(0, 0)), in -> List.of(in.get(0).add(x)));
    bytes = null;
    x.close();
    System.gc();
    // The tensor is a constant of the graph.
    assertArrayEquals(
        new float[] {2, -1}, graph.run(tensor(1, 1)).get(0).toFloats());
    graph.close();
    for (int i = 0; i < 6000 && seen.get() != null; ++i) {
      System.gc();
      Thread.sleep(10);
    }
    assertEquals(null, seen.get());
  }
}
