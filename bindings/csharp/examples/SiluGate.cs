using System;
using Runcible;

/// A custom op: silu(x) times a gate, which many models compute between two
/// products, as one op of a graph.
///
///     mcs -r:runcible/lib/Runcible.dll SiluGate.cs
///     MONO_PATH=runcible/lib mono SiluGate.exe
static class SiluGate {
  static void Compute(CustomCall call) {
    // Elements Begin to before End; other threads compute others.
    var x = new float[call.End - call.Begin];
    var gate = new float[x.Length];
    call.Inputs[0].Read(x, call.Begin);
    call.Inputs[1].Read(gate, call.Begin);
    for (int i = 0; i < x.Length; ++i) {
      x[i] = (float)(x[i] / (1 + Math.Exp(-x[i]))) * gate[i];
    }
    call.Outputs[0].Write(x, call.Begin);
  }

  static void Main() {
    using (var backend = new Backend("cpu"))
    using (var siluGate = new CustomOp(new CustomOpOptions {
      Name = "silu_gate",
      // All three have the same shape, whatever it is.
      Signature = "x F32 [...], gate F32 [...] -> y F32 [...]",
      Function = Compute,
      Items = "elements(y)"
    })) {
      Tensor x = Tensor.From(backend, new float[] { -1, 0, 1, 2 }, 4);
      Tensor gate = Tensor.From(backend, new float[] { 2, 2, 2, 0.5f }, 4);
      // Recorded once, to be run with any numbers of these shapes.
      using (Graph graph = Graph.Record(
          backend, new[] { x, gate },
          inputs => new[] { siluGate.Compute(inputs)[0] + inputs[0] })) {
        foreach (float y in graph.Run(x, gate)[0].ToFloats()) {
          Console.WriteLine(y.ToString("F4"));
        }
      }
    }
  }
}
