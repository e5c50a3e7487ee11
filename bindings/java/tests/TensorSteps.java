import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.Locale;
import runcible.Backend;
import runcible.Dtype;
import runcible.Pinned;
import runcible.Tensor;

/** The steps of tensors and of pinned memory. */
final class TensorSteps {
  private TensorSteps() {}

  /** False if the step is another's. */
  static boolean act(Step step) throws Exception {
    switch (step.text("do")) {
      case "tensor" -> tensor(step);
      case "matmul" -> step.put(
          step.named("a", Tensor.class).matmul(step.named("b", Tensor.class)));
      case "quantize" -> step.named("tensor", Tensor.class).quantize(
          Dtype.valueOf(step.text("dtype").toUpperCase(Locale.ROOT)));
      case "read" -> read(step);
      case "pinned" -> pin(step);
      case "from_pinned" -> step.put(Tensor.of(
          Backend.open(step.text("backend")), Dtype.F32, memory(step),
          step.shape("shape")));
      case "borrow_pinned" -> step.put(Tensor.borrow(
          Backend.open(step.text("backend")), Dtype.F32, memory(step),
          step.shape("shape")));
      case "write_pinned" ->
          memory(step).asFloatBuffer().put(step.floats("values"));
      case "read_into" -> readInto(step);
      case "drop_pinned" -> step.objects.remove(step.text("memory"));
      default -> {
        return false;
      }
    }
    return true;
  }

  private static void tensor(Step step) {
    long[] shape = step.shape("shape");
    float[] numbers;
    if (step.has("values")) {
      numbers = step.floats("values");
    } else {
      long size = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
      numbers = new float[(int) size];
      Arrays.fill(numbers, (float) step.number("fill"));
    }
    step.put(Tensor.of(Backend.open(step.text("backend")), numbers, shape));
  }

  private static void read(Step step) {
    Tensor tensor = step.named("tensor", Tensor.class);
    assertNotNull(tensor);
    assertArrayEquals(step.shape("expect_shape"), tensor.shape());
    assertArrayEquals(step.floats("expect"), tensor.toFloats());
  }

  private static ByteBuffer memory(Step step) {
    return step.named("memory", ByteBuffer.class);
  }

  private static void pin(Step step) {
    long size = Arrays.stream(step.shape("shape")).reduce(1, (a, b) -> a * b);
    Backend backend = Backend.open(step.text("backend"));
    ByteBuffer memory = step.has("device")
        ? Pinned.allocate(backend, (int) size * Float.BYTES, step.text("device"))
        : Pinned.allocate(backend, (int) size * Float.BYTES);
    FloatBuffer numbers = memory.asFloatBuffer();
    while (numbers.hasRemaining()) {
      assertEquals(0, numbers.get());
    }
    numbers.rewind().put(step.floats("values"));
    step.put(memory);
  }

  private static void readInto(Step step) {
    ByteBuffer memory = memory(step).duplicate();
    step.named("tensor", Tensor.class).read(memory);
    float[] found = new float[memory.position() / Float.BYTES];
    memory(step).asFloatBuffer().get(found);
    assertArrayEquals(step.floats("expect"), found);
  }
}
