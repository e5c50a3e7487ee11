import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import runcible.AttentionOptions;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.Conv2dOptions;
import runcible.DeviceKind;
import runcible.DevicePlan;
import runcible.DeviceReport;
import runcible.Discovery;
import runcible.Dtype;
import runcible.Function;
import runcible.GenerateOptions;
import runcible.Generation;
import runcible.Logprob;
import runcible.Model;
import runcible.ModelOptions;
import runcible.Piece;
import runcible.Plan;
import runcible.RandomOptions;
import runcible.RopeOptions;
import runcible.RopeStyle;
import runcible.RuncibleException;
import runcible.Session;
import runcible.SessionOptions;
import runcible.Tensor;
import runcible.Tokenizer;

/** What the package gives, beside the cases of all languages. */
class PackageTest {
  private static Backend backend;
  private static Model model;

  @BeforeAll
  static void load() {
    backend = Backend.open("cpu");
    model = Model.load("builtin:fable", backend);
  }

  @Test
  void discover() {
    Discovery found = Backend.discover();
    DeviceReport cpu = found.devices().stream()
        .filter(device -> device.id().equals("cpu:0"))
        .findFirst().orElseThrow();
    assertEquals(DeviceKind.CPU, cpu.kind());
    assertTrue(cpu.totalMemory() > 0);
    assertFalse(found.automatic().isEmpty());
    for (DeviceReport device : found.devices()) {
      assertTrue(device.index() >= 0 || !device.reason().isEmpty());
    }
  }

  @Test
  void plan() {
    Plan plan = Model.plan(
        "builtin:fable", backend, new ModelOptions().contextLength(64));
    assertTrue(plan.fits());
    assertEquals(64, plan.contextLength());
    assertEquals(1, plan.devices().size());
    DevicePlan device = plan.devices().get(0);
    assertEquals("cpu:0", device.device());
    assertEquals(plan.total(), device.total());
    assertTrue(device.embedding() && device.output());
    assertTrue(plan.offers().isEmpty());
    try (Backend small = Backend.open(
             "cpu", new BackendOptions().memoryLimit(4500000))) {
      Plan tight = Model.plan(
          "builtin:fable", small, new ModelOptions().contextLength(64));
      assertTrue(!tight.fits());
      assertTrue(tight.offers().stream().anyMatch(
          offer -> offer.option().equals("keep_mapped") && offer.mapped() > 0));
    }
  }

  @Test
  void verify() {
    Model.verify("builtin:fable");
    assertThrows(
        RuncibleException.NotFound.class, () -> Model.verify("/nothing.gguf"));
  }

  @Test
  void backend() {
    model.session().generate("A", new GenerateOptions().maxTokens(3)).text();
    assertEquals("cpu:0", backend.device().id());
    assertTrue(backend.explain().contains("\"candidates\""));
    assertTrue(backend.usage().generatedTokens() >= 3);
    assertThrows(RuncibleException.Unsupported.class, backend::trace);
    try (Backend profiled =
            Backend.open("cpu", new BackendOptions().profile(true))) {
      Tensor.ones(profiled, Dtype.F32, 2).sum();
      assertTrue(profiled.trace().startsWith("{"));
    }
  }

  @Test
  void metadata() {
    Map<String, String> metadata = model.metadata();
    assertEquals("\"llama\"", metadata.get("general.architecture"));
    try (Tokenizer opened = Tokenizer.open("builtin:fable")) {
      assertEquals(2048, opened.report().vocabulary());
      assertArrayEquals(model.tokenize("A fox"), opened.tokenize("A fox"));
    }
  }

  @Test
  void pieces() {
    Generation generation = model.session().generate(
        "A", new GenerateOptions().maxTokens(5).logprobs(3));
    List<Integer> tokens = new ArrayList<>();
    for (Piece piece : generation) {
      tokens.addAll(piece.tokens());
      assertEquals(
          piece.tokens(),
          piece.logprobs().stream().map(Logprob::token).toList());
      for (List<Logprob> best : piece.topLogprobs()) {
        assertEquals(3, best.size());
        assertTrue(best.get(0).logprob() <= 0);
        assertTrue(best.get(0).logprob() >= best.get(2).logprob());
      }
    }
    assertEquals(5, tokens.size());
    assertEquals(5, generation.report().orElseThrow().generatedTokens());
  }

  private static String text(GenerateOptions options) {
    return model.session().generate("A", options.seed(1)).text();
  }

  private static GenerateOptions options() {
    return new GenerateOptions();
  }

  @Test
  void choosing() {
    String five = text(options().maxTokens(5));
    assertEquals(five, text(options().maxTokens(5)));
    assertEquals("A" + five, text(options().maxTokens(5).echo(true)));
    String whole = text(options().maxTokens(50));
    String stop = whole.substring(10, 14);
    assertEquals(
        whole.substring(0, whole.indexOf(stop)),
        text(options().maxTokens(50).stop("never", stop)));
    GenerateOptions greedy = options().maxTokens(1).temperature(0);
    int token =
        model.session().generate("A", greedy).next().tokens().get(0);
    greedy.logitBias(Map.of(token, Float.NEGATIVE_INFINITY));
    assertNotEquals(
        token, model.session().generate("A", greedy).next().tokens().get(0));
  }

  @Test
  void aStreamOfPieces() {
    Session session = model.session(new SessionOptions());
    try (var pieces =
        session.generate("A", options().ignoreEos(true)).pieces()) {
      assertEquals(3, pieces.limit(3).map(Piece::text).toList().size());
    }
    session.append("B"); // no longer busy
  }

  @Test
  void savedInMemory() {
    Session session = model.session();
    session.append("Once upon a time");
    session.decode();
    Session restored =
        Session.restore(model, session.save(), new SessionOptions());
    assertArrayEquals(session.tokens(), restored.tokens());
    session.append(5);
    assertEquals(session.position() - 1, restored.position());
    assertArrayEquals(session.tokens(), session.migrate(model).tokens());
  }

  private static Tensor tensor(float[] numbers, long... shape) {
    return Tensor.of(backend, numbers, shape);
  }

  @Test
  void tensors() {
    Tensor x = tensor(new float[] {-1, 2, 3, -4, 5, 6}, 2, 3);
    assertArrayEquals(new float[] {-2, 4, 6, -8, 10, 12}, x.add(x).toFloats());
    assertArrayEquals(new float[] {1, 4, 9, 16, 25, 36}, x.mul(x).toFloats());
    assertArrayEquals(new float[] {0, 2, 3, 0, 5, 6}, x.relu().toFloats());
    assertArrayEquals(new float[] {11}, x.sum().toFloats());
    assertArrayEquals(new long[] {2, 1}, x.mean(1, true).shape());
    assertArrayEquals(new float[] {3, 6}, x.max(1, false).toFloats());
    Tensor largest = x.argmax(1, false);
    assertEquals(Dtype.I32, largest.dtype());
    assertArrayEquals(new float[] {2, 2}, largest.toFloats());
    assertArrayEquals(
        new float[] {-1, -4, 2, 5, 3, 6}, x.transpose(0, 1).toFloats());
    assertArrayEquals(new long[] {3, 2}, x.reshape(3, -1).shape());
    assertArrayEquals(
        new float[] {-1, 3, -4, 6}, x.slice(1, 0, 3, 2).toFloats());
    Tensor ids = Tensor.of(backend, new int[] {1, 0}, 2);
    assertArrayEquals(
        new float[] {-4, 5, 6, -1, 2, 3}, x.gatherRows(ids).toFloats());
    assertArrayEquals(
        new float[] {14, 32, 32, 77}, x.matmulTransposed(x).toFloats(), 1e-4f);
    assertArrayEquals(
        new float[] {1, 1}, x.softmax(-1).sum(1, false).toFloats(), 1e-6f);
    Tensor ones = Tensor.ones(backend, Dtype.F32, 1, 3);
    assertArrayEquals(
        new float[] {4, 7},
        x.fusedLinear(ones, null, Function.RELU).toFloats(), 1e-5f);
    assertEquals(3, x.rmsNorm(null, 0).mul(x.rmsNorm(null, 0))
        .sum(1, false).toFloats()[0], 1e-4f);
    assertEquals(0, x.layerNorm(null, null, 1e-5).sum().toFloats()[0], 1e-4f);
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

  /** Runs a program from its source. */
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
  void examples() throws Exception {
    for (String name : List.of("Hello", "Streams")) {
      String output = exampleOutput(name);
      assertTrue(output.length() > 200, output);
    }
    assertEquals(
        "-1.5379\n0.0000\n2.4621\n2.8808\n", exampleOutput("SiluGate"));
  }

  @Test
  void theProgramOfTheReadmeThatChats() throws Exception {
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

  /** As a module too, with nothing of the wrapper to be seen. */
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
