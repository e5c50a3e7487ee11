import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Separate processes: how they end, and which files they unpack. */
class ProcessTest {
  /** Runs Children.NAME in a separate process, which must end by itself. */
  private static String child(String name) throws Exception {
    return child(name, "-Duser.home=" + System.getProperty("user.home"));
  }

  private static String child(String name, String property) throws Exception {
    Process process = new ProcessBuilder(
        System.getenv("RUNCIBLE_JAVA"), "-Xmx256m", property, "-cp",
        System.getProperty("java.class.path"), "Children", name)
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), output);
    return output;
  }

  @Test
  void exitsWithRequestsInFlight() throws Exception {
    assertEquals("done\n", child("returns"));
    assertEquals("done\n", child("exits"));
  }

  @Test
  void usesATemporaryFolderIfTheCacheCannotBeWritten() throws Exception {
    assertTrue(child("temporary").startsWith("done /tmp/"));
  }

  @Test
  void usesTheFolderInRuncibleHome() throws Exception {
    Path cache = Path.of(System.getProperty("user.home"), ".cache/runcible");
    try (var found = Files.list(cache)) {
      Path folder = found.filter(path -> Files.exists(path.resolve("load")))
          .findFirst().orElseThrow();
      String output = child("temporary", "-Druncible.home=" + folder);
      assertTrue(output.startsWith("done " + folder), output);
    }
  }

  @Test
  void processesUnpackAtOnce() throws Exception {
    Path cache = Files.createTempDirectory("runcible-test");
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < 3; ++i) {
      ProcessBuilder builder = new ProcessBuilder(
          System.getenv("RUNCIBLE_JAVA"), "-Xmx256m", "-cp",
          System.getProperty("java.class.path"), "Children", "version");
      builder.environment().put("XDG_CACHE_HOME", cache.toString());
      processes.add(builder.redirectErrorStream(true).start());
    }
    for (Process process : processes) {
      String output = new String(process.getInputStream().readAllBytes());
      assertEquals(0, process.waitFor(), output);
    }
    try (var found = Files.list(cache.resolve("runcible"))) {
      assertEquals(1, found.count());
    }
    try (var all = Files.walk(cache)) {
      all.sorted(Collections.reverseOrder()).forEach(
          path -> path.toFile().delete());
    }
  }
}
