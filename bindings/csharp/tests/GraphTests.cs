using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Runcible;

/// Graphs: recording and running, also in threads.
class GraphTests {
  private readonly Backend backend = new Backend("cpu");

  private Tensor Of(params float[] numbers) =>
      Tensor.From(backend, numbers, numbers.Length);

  public void TestRecordingAndRunningReportErrors() {
    Tensor x = Of(1, 2), y = Of(1, 2, 3);
    var misfit = Check.Throws<InvalidArgumentException>(
        () => Graph.Record(backend, new[] { x }, of => new[] { of[0] + y }));
    Check.That(misfit.Message.Contains("[3]"), misfit.Message);
    Check.Throws<DivideByZeroException>(
        () => Graph.Record(backend, new[] { x }, of => {
          throw new DivideByZeroException();
        }));
    Tensor kept = null;
    Graph graph = Graph.Record(backend, new[] { x }, of => {
      kept = of[0].Neg();
      Check.Throws<InvalidArgumentException>(() => kept.Read());
      return new[] { kept };
    });
    Check.Throws<InvalidArgumentException>(() => kept.Neg());
    Check.Same(new float[] { -1, 2 }, graph.Run(Of(1, -2))[0].ToFloats());
    Check.Throws<InvalidArgumentException>(() => graph.Run(y));
    graph.Dispose();
    Check.Throws<ClosedException>(() => graph.Run(x));
  }

  public void TestManyRunsAtOnce() {
    Graph graph = Graph.Record(
        backend, new[] { Of(0, 0) }, of => new[] { of[0] + of[0] });
    Tensor[][] found = Task.WhenAll(Enumerable.Range(1, 6).Select(
        i => graph.RunAsync(new[] { Of(i, 1) }, TimeSpan.FromMinutes(1))))
        .Result;
    for (int i = 1; i <= 6; ++i) {
      Check.Same(new float[] { 2 * i, 2 }, found[i - 1][0].ToFloats());
    }
    Check.Throws<InvalidArgumentException>(
        () => graph.RunAsync(new[] { Of(1) }).Wait());
  }

  public void TestDeadlinesAndCancellingEndRuns() {
    Tensor x = Tensor.Random(backend, new RandomOptions { Seed = 1 }, 1024, 1024);
    Graph graph = Graph.Record(backend, new[] { x }, of => {
      Tensor y = of[0];
      // Most of these run only if the deadline or cancelling has no effect.
      for (int i = 0; i < 1000; ++i) {
        y = y.Matmul(y);
      }
      return new[] { y };
    });
    var late = Check.Throws<WaitTimeoutException>(
        () => graph.Run(new[] { x }, TimeSpan.FromTicks(12000)));
    // A deadline is rounded up: no run ends before its time.
    Check.That(late.Message.Contains(" 2 ms"), late.Message);
    using (var source = new CancellationTokenSource(20)) {
      Task<Tensor[]> run =
          graph.RunAsync(new[] { x }, cancel: source.Token);
      Check.Throws<TaskCanceledException>(() => run.Wait());
      Check.That(run.IsCanceled);
    }
  }
}
