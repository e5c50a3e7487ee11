import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.EmbedOptions;
import runcible.EndReason;
import runcible.Generation;
import runcible.Model;
import runcible.PieceStream;
import runcible.RerankOptions;
import runcible.Session;
import runcible.SessionOptions;

/** The steps of models, sessions and what they write. */
final class TextSteps {
  private TextSteps() {}

  /** False if the step is another's. */
  static boolean act(Step step) throws Exception {
    switch (step.text("do")) {
      case "load" -> load(step);
      case "embed" -> embed(step);
      case "rerank" -> rerank(step);
      case "report" -> report(step);
      case "tokenize" -> assertArrayEquals(
          step.tokens("expect"),
          step.model().tokenizer().tokenize(step.text("text"), false, false));
      case "detokenize" -> assertEquals(
          step.text("expect"), step.model().detokenize(step.tokens("tokens")));
      case "session" -> step.put(step.model().session(
          step.with(new SessionOptions(), "options")));
      case "generate" -> generate(step);
      case "stream" -> stream(step);
      case "tokens" -> tokens(step);
      case "append" -> append(step);
      case "start" -> step.put(step.session().generate(step.generateOptions()));
      case "finish" -> finish(step);
      case "close" -> step.named("object", Session.class).close();
      case "restore" -> step.put(Session.restore(
          step.model(), step.named("saved", Path.class)));
      case "fork" -> step.put(step.session().fork());
      case "decode" -> step.session().decodeAll();
      case "logits" -> logits(step);
      default -> {
        return false;
      }
    }
    return true;
  }

  private static void load(Step step) throws Exception {
    Backend backend = Backend.open(
        step.text("backend"),
        step.with(new BackendOptions(), "backend_options"));
    if (step.has("hub")) {
      step.put(Model.fromHub(step.text("hub"), backend));
      return;
    }
    String path = step.has("path") ? step.text("path") : "builtin:fable";
    step.put(Model.load(path, backend));
  }

  private static List<String> texts(JsonArray given) {
    List<String> made = new ArrayList<>();
    given.forEach(text -> made.add(text.getAsString()));
    return made;
  }

  private static void near(float[] row, JsonArray expected) {
    for (int i = 0; i < expected.size(); ++i) {
      assertEquals(expected.get(i).getAsDouble(), row[i], 2e-3);
    }
  }

  private static void embed(Step step) throws Exception {
    List<String> texts = texts(step.array("texts"));
    JsonArray expected = step.array("expect");
    float[][] rows = step.model().embed(texts);
    assertEquals(expected.size(), rows.length);
    for (int i = 0; i < rows.length; ++i) {
      near(rows[i], expected.get(i).getAsJsonArray());
    }
    assertArrayEquals(
        rows, step.model().embedAsync(texts, new EmbedOptions()).get());
  }

  private static void rerank(Step step) throws Exception {
    List<String> documents = texts(step.array("documents"));
    float[] scores = step.model().rerank(step.text("query"), documents);
    assertEquals(step.array("expect").size(), scores.length);
    near(scores, step.array("expect"));
    assertArrayEquals(
        scores, step.model().rerankAsync(step.text("query"), documents,
                    new RerankOptions()).get());
  }

  private static void report(Step step) throws Exception {
    Object report = step.model().report();
    for (var expected : step.object("expect").entrySet()) {
      Object value = report.getClass().getMethod(OptionSetters.camel(expected.getKey()))
          .invoke(report);
      assertEquals(expected.getValue().getAsString(), value.toString());
    }
  }

  private static void generate(Step step) throws Exception {
    Generation generation = step.session().generate(step.generateOptions());
    checkText(step, generation.text());
    assertEquals(step.reason(), generation.report().orElseThrow().reason());
  }

  private static void stream(Step step) throws Exception {
    PieceStream stream = step.session().stream(step.generateOptions());
    int last = step.has("cancel_after") ? step.whole("cancel_after") : -1;
    int[] count = {0};
    Collector collector = new Collector(Long.MAX_VALUE, piece -> {
      if (++count[0] == last) {
        stream.cancel();
      }
    });
    stream.subscribe(collector);
    String text = collector.join();
    checkText(step, text);
    assertTrue(
        collector.count() >= (step.has("pieces") ? step.whole("pieces") : 0));
    assertEquals(step.reason(), stream.report().join().reason());
  }

  private static void checkText(Step step, String text) {
    assertFalse(text.isEmpty());
    if (step.has("expect")) {
      assertEquals(step.text("expect"), text);
    }
    if (step.has("expect_start_of")) {
      assertTrue(step.text("expect_start_of").startsWith(text), text);
    }
  }

  private static void tokens(Step step) {
    // The end token ends a text and is no part of the session.
    int[] tokens = step.session().tokens();
    int[] expected = step.tokens("expect");
    assertArrayEquals(Arrays.copyOf(expected, tokens.length), tokens);
    assertTrue(tokens.length >= expected.length - 1);
  }

  private static void append(Step step) {
    if (step.has("text")) {
      step.session().append(step.text("text"));
    } else {
      step.session().append(step.tokens("tokens"));
    }
  }

  private static void finish(Step step) {
    Generation generation = step.named("generation", Generation.class);
    generation.close();
    assertEquals(
        EndReason.CANCELLED, generation.report().orElseThrow().reason());
  }

  private static void logits(Step step) {
    float[][] logits = step.session().logits();
    assertEquals(step.whole("rows"), logits.length);
    float[] row = logits[step.whole("row")];
    assertEquals(step.whole("vocabulary"), row.length);
    double sum = 0;
    int largest = 0;
    for (int i = 0; i < row.length; ++i) {
      sum += row[i];
      largest = row[i] > row[largest] ? i : largest;
    }
    assertEquals(step.whole("largest"), largest);
    double expected = step.number("sum");
    assertEquals(
        expected, sum, Math.abs(expected) * step.number("tolerance"));
  }
}
