import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The cases that every language runs. */
class ConformanceTest {
  private static final List<String> report =
      new ArrayList<>(List.of("language\tJava"));

  @TempDir Path folder;

  @TestFactory
  List<DynamicTest> cases() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonElement each : Conformance.document().getAsJsonArray("cases")) {
      JsonObject one = each.getAsJsonObject();
      String name = one.get("name").getAsString();
      tests.add(DynamicTest.dynamicTest(name, () -> {
        new Conformance(folder).run(one);
        report.add("passed\t" + name);
      }));
    }
    return tests;
  }

  /** Writes the report; see bindings/README.md. */
  @AfterAll
  static void write() throws IOException {
    Files.write(Path.of(System.getenv("RUNCIBLE_CASES_REPORT")), report);
  }
}
