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

  public void TestRandomTensors() {
    float[] drawn = Tensor.Random(
        backend, new RandomOptions { Seed = 1, Low = 2, High = 3 }, 100)
        .ToFloats();
    Check.That(drawn.All(number => number >= 2 && number < 3));
  }

  public void TestOpeningTakesATenant() {
    var tenant = new Tenant(new TenantOptions { Name = "acme" });
    var options = new BackendOptions { Tenant = tenant };
    using (Backend.OpenAsync("cpu", options).Result) {
      Check.Equal(1, tenant.Usage.Backends);
    }
    Check.Equal(0, tenant.Usage.Backends);
    tenant.Dispose();
    Check.Throws<ClosedException>(
        () => Backend.OpenAsync("cpu", options).GetAwaiter().GetResult());
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
