import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import runcible.AttentionOptions;
import runcible.Backend;
import runcible.Conv2dOptions;
import runcible.Dtype;
import runcible.Function;
import runcible.GenerateOptions;
import runcible.Model;
import runcible.Piece;
import runcible.RandomOptions;
import runcible.RopeOptions;
import runcible.RopeStyle;
import runcible.Session;
import runcible.SessionOptions;
import runcible.Tensor;

/** The package, besides the cases of all languages. */
class PackageTest {
  private static Backend backend;
  private static Model model;

  @BeforeAll
  static void load() {
    backend = Backend.open("cpu");
    model = Model.load("builtin:fable", backend);
  }

  @Test
  void piecesAreAStream() {
    Session session = model.session(new SessionOptions());
    try (var pieces =
        session.generate("A", new GenerateOptions().ignoreEos(true)).pieces()) {
      assertEquals(3, pieces.limit(3).map(Piece::text).toList().size());
    }
    session.append("B"); // no longer busy
  }

  private static Tensor tensor(float[] numbers, long... shape) {
    return Tensor.of(backend, numbers, shape);
  }

  @Test
  void tensors() {
    Tensor x = tensor(new float[] {-1, 2, 3, -4, 5, 6}, 2, 3);
    Tensor ones = Tensor.ones(backend, Dtype.F32, 1, 3);
    assertArrayEquals(
        new float[] {4, 7},
        x.fusedLinear(ones, null, Function.RELU).toFloats(), 1e-5f);
    assertArrayEquals(new float[1], Tensor.zeros(backend, Dtype.F32, 1)
        .tanh().add(Tensor.zeros(backend, Dtype.F32, 1).gelu()).toFloats());
  }

  @Test
  void opsWithOptions() {
    Tensor picture = Tensor.ones(backend, Dtype.F32, 1, 1, 4, 4);
    Tensor window = Tensor.ones(backend, Dtype.F32, 1, 1, 2, 2);
    Tensor seen = picture.conv2d(
        window, null, new Conv2dOptions().stride(2, 2));
    assertArrayEquals(new long[] {1, 1, 2, 2}, seen.shape());
    assertArrayEquals(new float[] {4, 4, 4, 4}, seen.toFloats());
    Tensor v = tensor(new float[] {1, 2, 3, 4}, 2, 1, 2);
    assertArrayEquals(
        new float[] {1, 2, 2, 3},
        Tensor.zeros(backend, Dtype.F32, 2, 1, 2)
            .attention(v, v, new AttentionOptions().causal(true)).toFloats(),
        1e-6f);
    Tensor positions = Tensor.of(backend, new int[] {0, 1}, 2);
    float[] turned = v.rope(
        positions, null, new RopeOptions().style(RopeStyle.HALVES)).toFloats();
    assertEquals(1, turned[0]);
    assertEquals(3 * Math.cos(1) - 4 * Math.sin(1), turned[2], 1e-5);
    float[] drawn = Tensor.random(
        backend, new RandomOptions().seed(1).uniform(2, 3), 100).toFloats();
    for (float number : drawn) {
      assertTrue(number >= 2 && number < 3);
    }
  }

  @Test
  void tensorsOfOtherTypes() {
    Tensor packed =
        Tensor.ones(backend, Dtype.F32, 1, 32).quantize(Dtype.Q8_0);
    assertEquals(Dtype.Q8_0, packed.dtype());
    assertEquals(34, packed.byteSize());
    assertEquals(32, packed.size());
    Tensor again =
        Tensor.of(backend, Dtype.Q8_0, packed.read(), 1, 32);
    assertEquals(1, again.toFloats()[31], 1e-2);
    assertEquals(
        32, Tensor.ones(backend, Dtype.F32, 1, 32).matmulQuantized(packed)
            .toFloats()[0], 0.5);
  }

  private static String exampleOutput(String name) throws Exception {
    return programOutput(
        Path.of(System.getenv("RUNCIBLE_EXAMPLES"), name + ".java"));
  }

  /** Runs a program from its source, and returns its output. */
  private static String programOutput(Path source) throws Exception {
    Process process = new ProcessBuilder(
        System.getenv("RUNCIBLE_JAVA"),
        "-Duser.home=" + System.getProperty("user.home"), "-cp",
        System.getProperty("java.class.path").split(":")[0],
        source.toString())
        .redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), output);
    return output;
  }

  @Test
  void examplesRun() throws Exception {
    for (String name : List.of("Hello", "Streams")) {
      String output = exampleOutput(name);
      assertTrue(output.length() > 200, output);
    }
    assertEquals(
        "-1.5379\n0.0000\n2.4621\n2.8808\n", exampleOutput("SiluGate"));
  }

  @Test
  void theConversationOfTheReadmeRuns() throws Exception {
    String readme = Files.readString(
        Path.of(System.getenv("RUNCIBLE_EXAMPLES"), "../README.md"));
    String program = readme
        .split("<!-- tests: chat -->\n```java\n")[1].split("```")[0];
    Path folder = Files.createTempDirectory("runcible-test");
    Path source = folder.resolve("Conversation.java");
    Files.writeString(source, program);
    assertEquals(
        "Who will not let go is held.\nIn it there is a bear and a bee.\n",
        programOutput(source));
    Files.delete(source);
    Files.delete(folder);
  }

  /** The jar is also a module, which hides the wrapper. */
  @Test
  void module() throws Exception {
    Process process = new ProcessBuilder(
        System.getenv("RUNCIBLE_JAVA"), "--module-path",
        System.getProperty("java.class.path").split(":")[0],
        "--describe-module", "runcible")
        .redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), output);
    assertTrue(output.contains("exports runcible"), output);
    assertThrows(
        IllegalAccessException.class,
        () -> Class.forName("runcible.Native").getMethod("version")
            .invoke(null));
  }
}
