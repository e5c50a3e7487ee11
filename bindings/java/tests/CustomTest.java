import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import runcible.Backend;
import runcible.CustomCall;
import runcible.CustomOp;
import runcible.CustomOpOptions;
import runcible.Dtype;
import runcible.Graph;
import runcible.RuncibleException;
import runcible.Tensor;

/** Custom ops: functions of Java and of C, and kernels. */
@Timeout(300)
class CustomTest {
  private static final float[] X = {-4, -1, 0, 1, 3};
  private static final Path LIBRARY =
      Path.of(System.getenv("RUNCIBLE_CUSTOM_OP"));

  private final Backend backend = Backend.open("cpu");

  private static CustomOpOptions softsign() {
    return new CustomOpOptions()
        .name("softsign")
        .signature("x F32 [...] -> y F32 [...]")
        .attributes("scale float")
        .items("elements(x)")
        .openclC(
            "size_t i = get_global_id(0);\n"
                + "if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);")
        .grid("elements(x)");
  }

  private static void compute(CustomCall call) {
    FloatBuffer from = call.inputs().get(0).data().asFloatBuffer();
    FloatBuffer to = call.outputs().get(0).data().asFloatBuffer();
    double scale = call.attribute(0);
    for (int i = (int) call.begin(); i < call.end(); ++i) {
      to.put(i, (float) (from.get(i) / (1 + Math.abs(from.get(i)) * scale)));
    }
  }

  private static void near(Tensor found, double scale, boolean positive) {
    float[] wanted = new float[X.length];
    for (int i = 0; i < X.length; ++i) {
      double y = X[i] / (1 + Math.abs(X[i]) * scale);
      wanted[i] = (float) (positive ? Math.max(y, 0) : y);
    }
    assertArrayEquals(wanted, found.toFloats(), 1e-6f);
  }

  private Tensor tensor() {
    return Tensor.of(backend, X, X.length);
  }

  @Test
  void functionsAndKernels() throws Exception {
    for (CustomOp op : List.of(
        CustomOp.of(softsign(), CustomTest::compute),
        CustomOp.of(softsign(), LIBRARY, "softsign"))) {
      for (String device : List.of("cpu", "reference", "opencl")) {
        Backend other;
        try {
          other = Backend.open(device);
        } catch (RuntimeException unavailable) {
          assertEquals("opencl", device, unavailable.toString());
          continue;
        }
        Tensor x = Tensor.of(other, X, X.length);
        near(op.compute(List.of(x), 0.5).get(0), 0.5, false);
      }
      Graph graph = Graph.record(
          backend, List.of(tensor()),
          in -> List.of(op.compute(in, 2).get(0).relu()));
      op.close();
      near(graph.run(tensor()).get(0), 2, true);
      near(graph.runAsync(tensor()).get().get(0), 2, true);
    }
  }

  @Test
  void manyItemsAndTypes() {
    AtomicInteger calls = new AtomicInteger();
    CustomOp op = CustomOp.of(
        new CustomOpOptions()
            .signature("x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]")
            .items("m"),
        call -> {
          calls.incrementAndGet();
          IntBuffer x = call.inputs().get(0).data().asIntBuffer();
          DoubleBuffer w = call.inputs().get(1).data().asDoubleBuffer();
          DoubleBuffer y = call.outputs().get(0).data().asDoubleBuffer();
          IntBuffer z = call.outputs().get(1).data().asIntBuffer();
          int n = call.inputs().get(0).shape().get(1).intValue();
          for (int i = (int) call.begin(); i < call.end(); ++i) {
            double sum = 0;
            for (int j = 0; j < n && !call.stopped(); ++j) {
              sum += x.get(i * n + j) * w.get(j);
              z.put(i * n + j, -x.get(i * n + j));
            }
            y.put(i, sum);
          }
        });
    Tensor x = Tensor.of(backend, new int[] {1, 2, 3, 4, 5, 6}, 3, 2);
    List<Tensor> made = op.compute(List.of(
        x, Tensor.of(backend, new float[] {10, 0.5f}, 2).quantize(Dtype.F64)));
    assertArrayEquals(new float[] {11, 32, 53}, made.get(0).toFloats());
    assertArrayEquals(
        new float[] {-1, -2, -3, -4, -5, -6}, made.get(1).toFloats());
    assertTrue(calls.get() >= 1 && calls.get() <= 3, calls::toString);
  }

  private <T extends Throwable> void fails(
      Class<T> kind, String says, java.util.function.Supplier<CustomOp> maker) {
    T failure = assertThrows(kind, () -> {
      try (CustomOp op = maker.get()) {
        op.compute(List.of(tensor()), 1);
      }
    });
    assertTrue(failure.getMessage().contains(says), failure.getMessage());
  }

  @Test
  void failuresNameTheirReason() {
    fails(RuncibleException.Device.class, "not mine",
        () -> CustomOp.of(softsign(), call -> {
          throw new ArithmeticException("not mine");
        }));
    fails(RuncibleException.Device.class, "ReadOnlyBuffer",
        () -> CustomOp.of(
            softsign(), call -> call.inputs().get(0).data().put(0, (byte) 1)));
    fails(RuncibleException.NotFound.class, "nosuch",
        () -> CustomOp.of(softsign(), call -> Backend.open("nosuch")));
    fails(RuncibleException.NotFound.class, "such",
        () -> CustomOp.of(softsign(), Path.of("/no/such.so"), "softsign"));
    fails(RuncibleException.InvalidArgument.class, "signature",
        () -> CustomOp.of(softsign().signature("x F32 [n]")));
    fails(RuncibleException.InvalidArgument.class, "signature",
        () -> CustomOp.of(softsign().signature("x F32 [n]"), call -> {}));
    fails(RuncibleException.InvalidArgument.class,
        "neither a function nor a kernel",
        () -> CustomOp.of(new CustomOpOptions().signature("x F32 [n] -> y F32 [n]")));
    fails(RuncibleException.Unsupported.class, "no function",
        () -> CustomOp.of(softsign()));
    CustomOp op = CustomOp.of(softsign(), CustomTest::compute);
    assertThrows(
        RuncibleException.InvalidArgument.class,
        () -> op.compute(List.of(tensor())));
  }
}
