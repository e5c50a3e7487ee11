using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Runcible;

/// The package, besides the cases of all languages.
class PackageTests {
  private readonly Backend backend = new Backend("cpu");
  private Tensor From(float[] numbers, params long[] shape) =>
      Tensor.From(backend, numbers, shape);

  public void TestTensors() {
    Tensor x = From(new float[] { -1, 2, 3, -4, 5, 6 }, 2, 3);
    Check.Same(new float[] { -1, -4, 2, 5, 3, 6 }, x.Transpose().ToFloats());
    Check.Same(
        new float[] { 4, 7 },
        x.FusedLinear(
            Tensor.Ones(backend, Dtype.F32, 1, 3), null, Function.Relu)
            .ToFloats());
    Tensor picture = Tensor.Ones(backend, Dtype.F32, 1, 1, 4, 4);
    Tensor window = Tensor.Ones(backend, Dtype.F32, 1, 1, 2, 2);
    Check.Same(
        new float[] { 4, 4, 4, 4 },
        picture.Conv2d(
            window, null, new Conv2dOptions { Stride = new Pair(2, 2) })
            .ToFloats());
    Tensor v = From(new float[] { 1, 2, 3, 4 }, 2, 1, 2);
    Check.Same(
        new float[] { 1, 2, 2, 3 },
        Tensor.Zeros(backend, Dtype.F32, 2, 1, 2)
            .Attention(v, v, new AttentionOptions { Causal = true })
            .ToFloats());
    Check.Near(
        3 * Math.Cos(1) - 4 * Math.Sin(1),
        v.Rope(Tensor.From(backend, new[] { 0, 1 }, 2)).ToFloats()[2], 1e-5);
    float[] drawn = Tensor.Random(
        backend, new RandomOptions { Seed = 1, Low = 2, High = 3 }, 100)
        .ToFloats();
    Check.That(drawn.All(number => number >= 2 && number < 3));
  }

  public void TestTensorsOfOtherTypes() {
    Tensor packed =
        Tensor.Ones(backend, Dtype.F32, 1, 32).Quantize(Dtype.Q8_0);
    Check.Equal(Dtype.Q8_0, packed.Dtype);
    Check.Equal(34, packed.ByteSize);
    Check.Equal(32, packed.Size);
    Tensor again = Tensor.From(backend, Dtype.Q8_0, packed.Read(), 1, 32);
    Check.Near(1, again.ToFloats()[31], 1e-2);
  }

  /// Returns the output of a program of this folder, which must end by itself.
  public static string Run(string program, string argument = "") {
    string folder =
        Path.GetDirectoryName(typeof(PackageTests).Assembly.Location);
    var start = new ProcessStartInfo(
        "mono", Path.Combine(folder, program) + " " + argument) {
      UseShellExecute = false, RedirectStandardOutput = true
    };
    using (Process process = Process.Start(start)) {
      Task<string> output = process.StandardOutput.ReadToEndAsync();
      if (!process.WaitForExit(300000)) {
        process.Kill();
        throw new CheckFailed(program + " " + argument + " does not end");
      }
      Check.Equal(0, process.ExitCode);
      return output.Result;
    }
  }

  public void TestExamples() {
    Check.That(Run("Hello.exe").Length > 200);
    Check.That(Run("Streams.exe").Length > 200);
    Check.Equal(
        "-1.5379\n0.0000\n2.4621\n2.8808\n", Run("SiluGate.exe"));
  }

  public void TestTheConversationOfTheReadme() {
    Check.Equal(
        "Who will not let go is held.\nIn it there is a bear and a bee.\n",
        Run("Readme.exe"));
  }

  /// The wrapper must not be visible.
  public void TestPublicTypes() {
    Type[] types = typeof(Model).Assembly.GetExportedTypes();
    Check.That(types.All(type => type.Namespace == "Runcible"));
    Check.That(!types.Any(type => type.Name == "Reference"));
  }
}
