import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import runcible.Backend;
import runcible.Chat;
import runcible.ChatOptions;
import runcible.GenerateOptions;
import runcible.Grammar;
import runcible.Message;
import runcible.Model;

/** Schemas, tools, choices and messages as objects. */
@Timeout(300)
class JsonTest {
  private static final String TEXT = """
      {"type": "object", "required": ["clouds", "sky"], "properties":
       {"clouds": {"type": "integer", "const": 2}, "sky": {"const": "gr\u00e9y"}}}""";

  /** A schema of objects whose members are constants. */
  record Sky(String type, String[] required, Map<String, ?> properties) {}

  record Constant(Object title, StringBuilder description) {}

  private final Model model = Model.load("builtin:fable", Backend.open("cpu"));

  static List<Object> schemas() {
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("clouds", Map.of("type", "integer", "const", 2L));
    properties.put("sky", Map.of("const", "gr\u00e9y"));
    return List.of(
        TEXT, JsonParser.parseString(TEXT),
        new Sky("object", new String[] {"clouds", "sky"}, properties),
        Map.of("type", "object", "required", List.of("clouds", "sky"),
            "properties", properties, "title", 'x', "$comment", true));
  }

  private static void checkSky(String text) {
    JsonObject made = JsonParser.parseString(text).getAsJsonObject();
    assertEquals(2, made.get("clouds").getAsInt());
    assertEquals("gr\u00e9y", made.get("sky").getAsString());
  }

  private Chat chat() {
    return model.session().chat(new ChatOptions().templateName("zephyr"));
  }

  @ParameterizedTest
  @MethodSource("schemas")
  void objectsAreSchemasOfGrammars(Object schema) {
    Grammar grammar = Grammar.jsonSchema(model.tokenizer(), schema);
    checkSky(model.session().generate(
        "A", new GenerateOptions().grammar(grammar)).text());
  }

  @ParameterizedTest
  @MethodSource("schemas")
  void objectsAreFormatsOfAnswers(Object schema) {
    Object inner =
        schema instanceof String text ? JsonParser.parseString(text) : schema;
    checkSky(chat().ask("How is it?", new GenerateOptions().responseFormat(
        Map.of("type", "json_schema",
            "json_schema", Map.of("name", "sky", "schema", inner)))).text());
  }

  @Test
  void objectsAreMessages() {
    record Said(String role, String content) {}
    Chat chat = chat();
    chat.add(new Said("user", "a\"\n"));
    chat.add(List.of(Map.of("role", "assistant", "content", "b")));
    chat.add(Message.user("c"));
    assertEquals(JsonParser.parseString("""
        [{"role": "user", "content": "a\\"\\n"},
         {"role": "assistant", "content": "b"},
         {"role": "user", "content": "c"}]"""),
        JsonParser.parseString(chat.messages()));
  }

  @Test
  void errorsNameTheArgument() {
    List<Object> circle = new ArrayList<>();
    circle.add(circle);
    Chat chat = chat();
    chat.add(Message.user("a"));
    for (Object bad : List.of(
        circle, Double.NaN, new Object(), Map.of(1, 2), new Constant(
            Float.POSITIVE_INFINITY, new StringBuilder()))) {
      Object within = List.of(bad);
      named("responseFormat",
          () -> chat.reply(new GenerateOptions().responseFormat(within)));
      named("toolChoice",
          () -> chat.reply(new GenerateOptions().toolChoice(within)));
      named("messages", () -> chat.add(within));
      named("tools", () -> new ChatOptions().tools(within));
      named("schema", () -> Grammar.jsonSchema(model.tokenizer(), within));
    }
  }

  private static void named(String name, Executable wrong) {
    var error = assertThrows(IllegalArgumentException.class, wrong);
    assertTrue(error.getMessage().startsWith(name + ": "), error.getMessage());
  }
}
