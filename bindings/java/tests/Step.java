import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.Locale;
import java.util.Map;
import runcible.Chat;
import runcible.EndReason;
import runcible.GenerateOptions;
import runcible.Model;
import runcible.Session;

/** A step of a case, with the values that stand for others in place. */
final class Step {
  final JsonObject json;
  final Map<String, Object> objects;

  /** `objects` are those that the steps of the case have made. */
  Step(JsonObject json, Map<String, Object> objects) {
    this.json = json;
    this.objects = objects;
  }

  boolean has(String name) {
    return json.has(name);
  }

  String text(String name) {
    return json.get(name).getAsString();
  }

  double number(String name) {
    return json.get(name).getAsDouble();
  }

  int whole(String name) {
    return json.get(name).getAsInt();
  }

  int[] tokens(String name) {
    return new Gson().fromJson(json.get(name), int[].class);
  }

  JsonArray array(String name) {
    return json.getAsJsonArray(name);
  }

  JsonObject object(String name) {
    return has(name) ? json.getAsJsonObject(name) : new JsonObject();
  }

  /** The object of the kind that the step calls `name`. */
  <T> T named(String name, Class<T> kind) {
    return kind.cast(objects.get(text(name)));
  }

  Session session() {
    return named("session", Session.class);
  }

  Chat chat() {
    return named("chat", Chat.class);
  }

  Model model() {
    return named("model", Model.class);
  }

  void put(Object made) {
    objects.put(text("as"), made);
  }

  long[] shape(String name) {
    return new Gson().fromJson(json.get(name), long[].class);
  }

  float[] floats(String name) {
    return new Gson().fromJson(json.get(name), float[].class);
  }

  EndReason reason() {
    String name = text("reason").replace(' ', '_');
    return EndReason.valueOf(name.toUpperCase(Locale.ROOT));
  }

  /** Options with what the step says of them. */
  <T> T with(T options, String name) throws Exception {
    return OptionSetters.set(options, object(name), objects);
  }

  /** Those of a generation, with its prompt. */
  GenerateOptions generateOptions() throws Exception {
    GenerateOptions options = with(new GenerateOptions(), "options");
    if (!has("prompt")) {
      return options;
    }
    return json.get("prompt").isJsonArray()
        ? options.promptTokens(tokens("prompt"))
        : options.prompt(text("prompt"));
  }
}
