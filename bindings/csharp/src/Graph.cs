using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>A recorded function of tensors, run as a whole many
  /// times.</summary>
  /// <remarks>Chains of element-wise ops are computed in one pass over memory,
  /// and so are products with the bias and the function that follow. The
  /// numbers are the same as those of the single ops.</remarks>
  public sealed class Graph : Handle {
    private readonly graph handle;
    private readonly int outputs;

    private Graph(graph handle, int outputs) : base(handle) {
      this.handle = handle;
      this.outputs = outputs;
    }

    /// <summary>Calls a function with tensors that stand for the inputs and
    /// have the types and shapes of `like`. The ops of the function are
    /// recorded and not run.</summary>
    /// <remarks>The tensors that it returns are the outputs, and each run
    /// returns new ones; other tensors that it uses are constants. An op throws
    /// if types or shapes do not fit.</remarks>
    /// <param name="backend">the backend that runs it</param>
    /// <param name="like">tensors of the types and shapes of the inputs</param>
    /// <param name="ops">the function to record</param>
    public static Graph Record(
        Backend backend, IEnumerable<Tensor> like,
        Func<Tensor[], IEnumerable<Tensor>> ops) {
      native.graph_begin(backend.handle, out var begun);
      var handle = new graph(begun);
      var standIns = new List<Tensor>();
      try {
        foreach (Tensor each in like) {
          standIns.Add(each.StandIn(handle));
        }
        Tensor[] made = ops(standIns.ToArray()).ToArray();
        using (tensor_list list = ListOf(made)) {
          native.graph_finish(handle, list);
        }
        return new Graph(handle, made.Length);
      } catch {
        handle.Dispose();
        throw;
      } finally {
        foreach (Tensor each in standIns) {
          each.Dispose();
        }
      }
    }

    /// <summary>The same without a time limit.</summary>
    public Tensor[] Run(params Tensor[] inputs) => Run(inputs, null);

    /// <summary>Returns the outputs for these inputs. Requires: as many inputs,
    /// with the types and shapes that were recorded.</summary>
    /// <param name="inputs">in the order in which they were recorded</param>
    /// <param name="deadline">after it throws TimeoutException; null:
    /// none</param>
    /// <param name="cancel">ends all runs of the graph that are under
    /// way</param>
    public Tensor[] Run(
        IEnumerable<Tensor> inputs, TimeSpan? deadline,
        CancellationToken cancel = default(CancellationToken)) {
      using (tensor_list given = ListOf(inputs)) {
        return Run(given, Limit(deadline), cancel);
      }
    }

    /// <summary>The same in a separate thread.</summary>
    public Task<Tensor[]> RunAsync(
        IEnumerable<Tensor> inputs, TimeSpan? deadline = null,
        CancellationToken cancel = default(CancellationToken)) {
      long limit = Limit(deadline);
      tensor_list given = ListOf(inputs);
      return Task.Factory.StartNew(
          () => {
            using (given) {
              return Run(given, limit, cancel);
            }
          },
          cancel, TaskCreationOptions.LongRunning, TaskScheduler.Default);
    }

    /// <summary>{@rc rc_graph_cancel}</summary>
    public void Cancel() {
      native.graph_cancel(handle);
    }

    private Tensor[] Run(
        tensor_list given, long limit, CancellationToken cancel) {
      cancel.ThrowIfCancellationRequested();
      using (var made = new tensor_list())
      using (cancel.Register(() => native.graph_cancel(handle))) {
        try {
          native.graph_compute(handle, given, limit, made);
        } catch (CancelledException) {
          cancel.ThrowIfCancellationRequested();
          throw;
        }
        // The run may have ended, or not yet begun, at the time of the request.
        cancel.ThrowIfCancellationRequested();
        var tensors = new Tensor[outputs];
        for (int i = 0; i < outputs; ++i) {
          native.tensor_of_list(made, i, out var one);
          tensors[i] = Tensor.Of(one);
        }
        return tensors;
      }
    }

    private static long Limit(TimeSpan? deadline) =>
        deadline == null ? 0 : Limits.Milliseconds(deadline.Value, "deadline");

    internal static tensor_list ListOf(IEnumerable<Tensor> tensors) {
      var list = new tensor_list();
      try {
        foreach (Tensor each in tensors) {
          each.AddTo(list);
        }
        return list;
      } catch {
        list.Dispose();
        throw;
      }
    }

    // :api: methods rc_graph
  }
}
