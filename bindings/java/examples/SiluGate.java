import java.nio.FloatBuffer;
import java.util.List;
import runcible.Backend;
import runcible.CustomCall;
import runcible.CustomOp;
import runcible.CustomOpOptions;
import runcible.Graph;
import runcible.Tensor;

/**
 * A custom op: silu(x) times a gate, which many models compute between two
 * products, as one op of a graph.
 *
 * <pre>java -cp runcible.jar SiluGate.java</pre>
 */
class SiluGate {
  /** Computes elements begin to before end; other threads compute others. */
  static void compute(CustomCall call) {
    FloatBuffer x = call.inputs().get(0).data().asFloatBuffer();
    FloatBuffer gate = call.inputs().get(1).data().asFloatBuffer();
    FloatBuffer y = call.outputs().get(0).data().asFloatBuffer();
    for (int i = (int) call.begin(); i < call.end(); ++i) {
      y.put(i, (float) (x.get(i) / (1 + Math.exp(-x.get(i)))) * gate.get(i));
    }
  }

  public static void main(String[] arguments) {
    CustomOpOptions options =
        new CustomOpOptions()
            .name("silu_gate")
            // All three have the same shape, whatever it is.
            .signature("x F32 [...], gate F32 [...] -> y F32 [...]")
            .items("elements(y)");
    try (var backend = Backend.open("cpu");
        var siluGate = CustomOp.of(options, SiluGate::compute);
        var x = Tensor.of(backend, new float[] {-1, 0, 1, 2}, 4);
        var gate = Tensor.of(backend, new float[] {2, 2, 2, 0.5f}, 4);
        // Recorded once, to be run with any numbers of these shapes.
        var graph = Graph.record(
            backend, List.of(x, gate),
            in -> List.of(siluGate.compute(in).get(0).add(in.get(0))))) {
      for (float y : graph.run(x, gate).get(0).toFloats()) {
        System.out.printf("%.4f%n", y);
      }
    }
  }
}
