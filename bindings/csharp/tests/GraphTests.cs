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

  public void TestRecordingReportsExceptions() {
    Check.Throws<DivideByZeroException>(
        () => Graph.Record(backend, new[] { Of(1, 2) }, of => {
          throw new DivideByZeroException();
        }));
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
