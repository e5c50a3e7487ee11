using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using Runcible;

/// Custom ops: functions of C# and of C, and kernels; borrowed memory.
class CustomTests {
  private static readonly float[] x = { -4, -1, 0, 1, 3 };

  private readonly Backend backend = new Backend("cpu");

  private static CustomOpOptions Softsign() => new CustomOpOptions {
    Name = "softsign",
    Signature = "x F32 [...] -> y F32 [...]",
    Attributes = "scale float",
    Items = "elements(x)",
    OpenclC = "size_t i = get_global_id(0);\n"
        + "if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
    Grid = "elements(x)"
  };

  private static void Compute(CustomCall call) {
    var numbers = new float[call.End - call.Begin];
    call.Inputs[0].Read(numbers, call.Begin);
    for (int i = 0; i < numbers.Length; ++i) {
      numbers[i] = (float)(
          numbers[i] / (1 + Math.Abs(numbers[i]) * call.Attributes[0]));
    }
    call.Outputs[0].Write(numbers, call.Begin);
  }

  private static void Near(Tensor found, double scale, bool positive = false) {
    float[] numbers = found.ToFloats();
    Check.Equal(x.Length, numbers.Length);
    for (int i = 0; i < x.Length; ++i) {
      double wanted = x[i] / (1 + Math.Abs(x[i]) * scale);
      Check.Near(positive ? Math.Max(wanted, 0) : wanted, numbers[i], 1e-6);
    }
  }

  private static Tensor Of(Backend on) => Tensor.From(on, x, x.Length);

  public void TestCustomOps() {
    CustomOpOptions ofSharp = Softsign(), ofC = Softsign();
    ofSharp.Function = Compute;
    ofC.Library = Environment.GetEnvironmentVariable("RUNCIBLE_CUSTOM_OP");
    foreach (CustomOpOptions options in new[] { ofSharp, ofC }) {
      using (var op = new CustomOp(options)) {
        foreach (string device in new[] { "cpu", "reference", "opencl" }) {
          Backend other;
          try {
            other = new Backend(device);
          } catch (Exception) when (device == "opencl") {
            continue;
          }
          Near(op.Compute(new[] { Of(other) }, 0.5)[0], 0.5);
        }
        Graph graph = Graph.Record(
            backend, new[] { Of(backend) },
            given => new[] { op.Compute(given, 2)[0].Relu() });
        Near(graph.Run(Of(backend))[0], 2, true);
        Near(graph.RunAsync(new[] { Of(backend) }).Result[0], 2, true);
      }
    }
  }

  public void TestCustomOpsWithManyItemsAndTypes() {
    int calls = 0;
    var op = new CustomOp(new CustomOpOptions {
      Signature = "x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]",
      Items = "m",
      Function = call => {
        Interlocked.Increment(ref calls);
        Check.Same(new[] { 3L, 2L }, call.Inputs[0].Shape);
        long n = call.Inputs[0].Shape[1];
        var row = new int[n];
        var weights = new double[n];
        call.Inputs[1].Read(weights);
        for (long i = call.Begin; i < call.End && !call.Stopped; ++i) {
          call.Inputs[0].Read(row, i * n);
          double sum = row.Zip(weights, (a, b) => a * b).Sum();
          call.Outputs[0].Write(new[] { sum }, i);
          call.Outputs[1].Write(row.Select(each => -each).ToArray(), i * n);
        }
      }
    });
    var weighted = Tensor.Borrow(backend, new[] { 10, 0.5 }, 2);
    Tensor[] made = op.Compute(new[] {
      Tensor.From(backend, new[] { 1, 2, 3, 4, 5, 6 }, 3, 2), weighted });
    var sums = new double[3];
    Buffer.BlockCopy(made[0].Read(), 0, sums, 0, 24);
    Check.Same(new[] { 11.0, 32, 53 }, sums);
    Check.Same(new float[] { -1, -2, -3, -4, -5, -6 }, made[1].ToFloats());
    Check.That(calls >= 1 && calls <= 3, calls);
  }

  private void Fails<T>(
      string says, Action<CustomOpOptions> change, params double[] attributes)
      where T : Exception {
    CustomOpOptions options = Softsign();
    change(options);
    var failure = Check.Throws<T>(() => {
      using (var op = new CustomOp(options)) {
        op.Compute(new[] { Of(backend) }, attributes);
      }
    });
    Check.That(failure.Message.Contains(says), failure.Message);
  }

  public void TestErrorsOfCustomOpsNameTheirReason() {
    Fails<DeviceException>("not mine", options => options.Function = call => {
      throw new InvalidOperationException("not mine");
    }, 1);
    Fails<DeviceException>(
        "input cannot be written",
        options => options.Function = call => call.Inputs[0].Write(x), 1);
    Fails<DeviceException>(
        "not within",
        options => options.Function =
            call => call.Outputs[0].Write(new float[6]), 1);
    Fails<NotFoundException>("such", options => options.Library = "/no/such.so");
    Fails<InvalidArgumentException>(
        "Signature", options => options.Signature = "x F32 [n]");
    Fails<InvalidArgumentException>(
        "neither a function nor a kernel", options => options.OpenclC = null);
    Fails<UnsupportedException>("no function", options => { }, 1);
    CustomValue kept = null;
    var op = new CustomOp(new CustomOpOptions {
      Signature = "x F32 [n] -> y F32 [n]",
      Function = call => kept = call.Inputs[0]
    });
    op.Compute(new[] { Of(backend) });
    Check.Throws<ClosedException>(() => kept.ToFloats());
    Check.Throws<InvalidArgumentException>(
        () => op.Compute(new[] { Of(backend) }, 1));
  }

  public void TestBorrowedArrays() {
    float[] numbers = { 1, -2, 3 };
    Tensor borrowed = Tensor.Borrow(backend, numbers, 3);
    Check.Same(new float[] { 1, 0, 3 }, borrowed.Relu().ToFloats());
    numbers[0] = -7; // changes the tensor
    Check.Same(new float[] { -7, -2, 3 }, borrowed.ToFloats());
    Tensor.From(backend, new float[] { 4, 5, 6 }, 3).Into(borrowed).Neg();
    Check.Same(new float[] { -4, -5, -6 }, numbers);
    Check.Throws<InvalidArgumentException>(
        () => Tensor.Borrow(backend, numbers, 4));
    Check.Throws<ArgumentException>(
        () => Tensor.Borrow(backend, new[] { 'a' }, 1));
    Tensor.Borrow(backend, new long[0], 0).Dispose();
  }

  public void TestBorrowedMemory() {
    int ended = 0, failed = 0;
    IntPtr memory = Marshal.AllocHGlobal(8);
    Marshal.Copy(new[] { 1f, 2 }, 0, memory, 2);
    Tensor borrowed = Tensor.Borrow(
        backend, Dtype.F32, memory, 8, () => Interlocked.Increment(ref ended), 2);
    Graph graph = Graph.Record(
        backend, new[] { borrowed }, given => new[] { given[0] + borrowed });
    borrowed.Dispose();
    Check.Equal(0, ended);
    Check.Same(
        new float[] { 11, 22 },
        graph.Run(Tensor.From(backend, new float[] { 10, 20 }, 2))[0]
            .ToFloats());
    graph.Dispose();
    SpinWait.SpinUntil(() => Volatile.Read(ref ended) == 1, 60000);
    Check.Equal(1, ended);
    Tensor.Borrow(backend, Dtype.F32, memory, 8, () => {
      Interlocked.Increment(ref failed);
      throw new InvalidOperationException("reaches no caller");
    }, 2).Dispose();
    SpinWait.SpinUntil(() => Volatile.Read(ref failed) == 1, 60000);
    Marshal.FreeHGlobal(memory);
  }
}
