using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Runcible;

/// What the package gives, beside the cases of all languages.
class PackageTests {
  private readonly Backend backend = new Backend("cpu");
  private readonly Model model;

  public PackageTests() {
    model = new Model("builtin:fable", backend);
  }

  public void TestDiscover() {
    Discovery found = Backend.Discover();
    DeviceReport cpu = found.Devices.First(device => device.Id == "cpu:0");
    Check.Equal(DeviceKind.Cpu, cpu.Kind);
    Check.That(cpu.TotalMemory > 0);
    Check.That(found.Automatic != "");
    Check.That(found.Devices.All(
        device => device.Index >= 0 || device.Reason != ""));
  }

  public void TestPlan() {
    Plan plan = Model.Plan(
        "builtin:fable", backend, new ModelOptions { ContextLength = 64 });
    Check.That(plan.Fits);
    Check.Equal(64, plan.ContextLength);
    Check.Equal("cpu:0", plan.Devices.Single().Device);
    Check.Equal(plan.Total, plan.Devices[0].Total);
    Check.That(plan.Devices[0].Embedding && plan.Devices[0].Output);
    Check.That(!plan.Offers.Any());
    using (var small = new Backend(
               "cpu", new BackendOptions { MemoryLimit = 4500000 })) {
      Plan tight = Model.Plan(
          "builtin:fable", small, new ModelOptions { ContextLength = 64 });
      Check.That(!tight.Fits);
      Check.That(tight.Offers.Any(
          offer => offer.Option == "keep_mapped" && offer.Mapped > 0));
    }
  }

  public void TestVerify() {
    Model.Verify("builtin:fable");
    Check.Throws<NotFoundException>(() => Model.Verify("/nothing.gguf"));
  }

  public void TestBackend() {
    model.Session().Generate("A", new GenerateOptions { MaxTokens = 3 }).Text();
    Check.Equal("cpu:0", backend.Device.Id);
    Check.That(backend.Explain().Contains("\"candidates\""));
    Check.That(backend.Usage.GeneratedTokens >= 3);
    Check.Throws<UnsupportedException>(() => backend.Trace());
    var profiled = new Backend("cpu", new BackendOptions { Profile = true });
    Tensor.Ones(profiled, Dtype.F32, 2).Sum();
    Check.That(profiled.Trace().StartsWith("{"));
  }

  public void TestMetadata() {
    Check.Equal("\"llama\"", model.Metadata()["general.architecture"]);
    using (var opened = new Tokenizer("builtin:fable")) {
      Check.Equal(2048, opened.Report.Vocabulary);
      Check.Same(model.Tokenize("A fox"), opened.Tokenize("A fox"));
    }
  }

  public void TestPieces() {
    Generation generation = model.Session().Generate(
        "A", new GenerateOptions { MaxTokens = 5, Logprobs = 3 });
    var tokens = new List<int>();
    foreach (Piece piece in generation) {
      tokens.AddRange(piece.Tokens);
      Check.Same(piece.Tokens, piece.Logprobs.Select(each => each.Token));
      foreach (var best in piece.TopLogprobs) {
        Check.Equal(3, best.Count);
        Check.That(best[0].Number <= 0 && best[0].Number >= best[2].Number);
      }
    }
    Check.Equal(5, tokens.Count);
    Check.Equal(5, generation.Report.GeneratedTokens);
  }

  private string Text(GenerateOptions options) {
    options.Seed = 1;
    return model.Session().Generate("A", options).Text();
  }

  public void TestOptions() {
    string five = Text(new GenerateOptions { MaxTokens = 5 });
    Check.Equal(five, Text(new GenerateOptions { MaxTokens = 5 }));
    Check.Equal(
        "A" + five, Text(new GenerateOptions { MaxTokens = 5, Echo = true }));
    string whole = Text(new GenerateOptions { MaxTokens = 50 });
    string stop = whole.Substring(10, 4);
    Check.Equal(
        whole.Substring(0, whole.IndexOf(stop, StringComparison.Ordinal)),
        Text(new GenerateOptions {
            MaxTokens = 50, Stop = new[] { "never", stop } }));
    var greedy = new GenerateOptions { MaxTokens = 1, Temperature = 0 };
    int token = First(greedy);
    greedy.LogitBias =
        new Dictionary<int, float> { { token, float.NegativeInfinity } };
    Check.That(First(greedy) != token);
  }

  private int First(GenerateOptions options) {
    Generation generation = model.Session().Generate("A", options);
    generation.MoveNext();
    return generation.Current.Tokens[0];
  }

  public void TestSavedInMemory() {
    Session session = model.Session();
    session.Append("Once upon a time");
    session.Decode();
    Session restored = Session.Restore(model, session.Save());
    Check.Same(session.Tokens(), restored.Tokens());
    session.Append(5);
    Check.Equal(session.Position - 1, restored.Position);
    Check.Same(session.Tokens(), session.Migrate(model).Tokens());
  }

  private Tensor From(float[] numbers, params long[] shape) =>
      Tensor.From(backend, numbers, shape);

  public void TestTensors() {
    Tensor x = From(new float[] { -1, 2, 3, -4, 5, 6 }, 2, 3);
    Check.Same(new float[] { -2, 4, 6, -8, 10, 12 }, (x + x).ToFloats());
    Check.Same(new float[] { 1, 4, 9, 16, 25, 36 }, (x * x).ToFloats());
    Check.Same(new float[] { 0, 2, 3, 0, 5, 6 }, x.Relu().ToFloats());
    Check.Same(new float[] { 11 }, x.Sum().ToFloats());
    Check.Same(new long[] { 2, 1 }, x.Mean(1, true).Shape);
    Check.Same(new float[] { 3, 6 }, x.Max(1).ToFloats());
    Check.Equal(Dtype.I32, x.Argmax(1).Dtype);
    Check.Same(new float[] { -1, -4, 2, 5, 3, 6 }, x.Transpose().ToFloats());
    Check.Same(new long[] { 3, 2 }, x.Reshape(3, -1).Shape);
    Check.Same(new float[] { -1, 3, -4, 6 }, x.Slice(1, 0, 3, 2).ToFloats());
    Tensor ids = Tensor.From(backend, new[] { 1, 0 }, 2);
    Check.Same(
        new float[] { -4, 5, 6, -1, 2, 3 }, x.GatherRows(ids).ToFloats());
    Check.Same(
        new float[] { 14, 32, 32, 77 },
        x.MatmulTransposed(x).ToFloats().Select(n => (float)Math.Round(n)));
    Check.Near(1, x.Softmax().Sum(1).ToFloats()[0], 1e-6);
    Check.Same(
        new float[] { 4, 7 },
        x.FusedLinear(
            Tensor.Ones(backend, Dtype.F32, 1, 3), null, Function.Relu)
            .ToFloats());
    Check.Near(0, x.LayerNorm().Sum().ToFloats()[0], 1e-4);
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

  /// The output of a program of this folder, which must end by itself.
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

  public void TestTheProgramOfTheReadmeThatChats() {
    Check.Equal(
        "Who will not let go is held.\nIn it there is a bear and a bee.\n",
        Run("Readme.exe"));
  }

  /// Nothing of the wrapper is to be seen.
  public void TestPublicTypes() {
    Type[] types = typeof(Model).Assembly.GetExportedTypes();
    Check.That(types.All(type => type.Namespace == "Runcible"));
    Check.That(!types.Any(type => type.Name == "Reference"));
  }
}
