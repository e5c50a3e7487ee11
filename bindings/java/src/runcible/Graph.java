package runcible;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * A recorded function of tensors, run as a whole many times.
 *
 * <p>Chains of element-wise ops are computed in one pass over memory, and so
 * are products with the bias and the function that follow. The numbers are the
 * same as those of the single ops.
 */
public final class Graph extends Handle {
  private final graph handle;
  private final int outputs;

  private Graph(graph handle, int outputs) {
    super(handle);
    this.handle = handle;
    this.outputs = outputs;
  }

  /**
   * Calls a function with tensors that stand for the inputs and have their
   * types and shapes. The ops of the function are recorded and not run. The
   * tensors that it returns are the outputs, and each run returns new ones;
   * other tensors that it uses are constants. An op throws if types or shapes
   * do not fit.
   */
  public static Graph record(
      Backend backend, List<Tensor> like, UnaryOperator<List<Tensor>> ops) {
    graph handle = new graph((Long) Native.graph_begin(backend.handle));
    List<Tensor> standIns = new ArrayList<>();
    try {
      for (Tensor each : like) {
        standIns.add(each.standIn(handle));
      }
      List<Tensor> made = ops.apply(List.copyOf(standIns));
      try (tensor_list list = listOf(made)) {
        Native.graph_finish(handle, list);
      }
      return new Graph(handle, made.size());
    } catch (RuntimeException | Error failure) {
      handle.close();
      throw failure;
    } finally {
      standIns.forEach(Tensor::close);
    }
  }

  /** The same without a time limit. */
  public List<Tensor> run(Tensor... inputs) {
    return run(List.of(inputs), null);
  }

  /**
   * Returns the outputs for these inputs. Requires: as many inputs, with the
   * types and shapes that were recorded. A null deadline means none.
   */
  public List<Tensor> run(List<Tensor> inputs, Duration deadline) {
    long limit = limit(deadline);
    try (tensor_list given = listOf(inputs)) {
      return run(given, limit);
    }
  }

  /** The same without a time limit. */
  public CompletableFuture<List<Tensor>> runAsync(Tensor... inputs) {
    return runAsync(List.of(inputs), null);
  }

  /**
   * The same in a separate thread. Cancelling the future, or completing it
   * otherwise, cancels all runs of the graph that are under way.
   *
   * @see #run(List, Duration)
   */
  public CompletableFuture<List<Tensor>> runAsync(
      List<Tensor> inputs, Duration deadline) {
    long limit = limit(deadline);
    tensor_list given = listOf(inputs);
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture<List<Tensor>> future =
        Later.start("runcible graph", waiting -> {
          try (given) {
            if (waiting.isDone()) {
              throw new CancellationException("the run was cancelled");
            }
            return run(given, limit);
          } finally {
            over.set(true);
          }
        }, made -> made.forEach(Tensor::close));
    future.whenComplete((made, failure) -> {
      // Done by the run, or by a caller that does not wait any more.
      if (!over.get()) {
        try {
          Native.graph_cancel(handle);
        } catch (RuncibleException.Closed gone) {
          // The graph is closed: the run goes on to its end.
        }
      }
    });
    return future;
  }

  /** {@rc rc_graph_cancel} */
  public void cancel() {
    Native.graph_cancel(handle);
  }

  private List<Tensor> run(tensor_list given, long limit) {
    try (tensor_list made = new tensor_list()) {
      Native.graph_compute(handle, given, limit, made);
      List<Tensor> tensors = new ArrayList<>();
      for (int i = 0; i < outputs; ++i) {
        tensors.add(new Tensor(Native.tensor_of_list(made, i)));
      }
      return List.copyOf(tensors);
    }
  }

  private static long limit(Duration deadline) {
    return deadline == null ? 0 : Limits.milliseconds(deadline, "deadline");
  }

  private static tensor_list listOf(List<Tensor> tensors) {
    tensor_list list = new tensor_list();
    try {
      for (Tensor each : tensors) {
        each.addTo(list);
      }
      return list;
    } catch (RuntimeException failure) {
      list.close();
      throw failure;
    }
  }

  // :api: methods rc_graph
}
