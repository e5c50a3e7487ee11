import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.Dtype;
import runcible.GenerateOptions;
import runcible.Model;
import runcible.Piece;
import runcible.RandomOptions;
import runcible.RuncibleException;
import runcible.Session;
import runcible.SessionOptions;
import runcible.Tenant;
import runcible.TenantOptions;
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

  @Test
  void openingTakesATenant() {
    Tenant tenant = Tenant.create(new TenantOptions().name("acme"));
    BackendOptions options = new BackendOptions().tenant(tenant);
    try (Backend opened = Backend.openAsync("cpu", options, null).join()) {
      assertEquals("cpu:0", opened.device().id());
      assertEquals(1, tenant.usage().backends());
    }
    assertEquals(0, tenant.usage().backends());
    tenant.close();
    assertThrows(
        RuncibleException.Closed.class,
        () -> Backend.openAsync("cpu", options, null));
  }

  @Test
  void randomTensors() {
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
