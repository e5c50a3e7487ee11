import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import runcible.WhenFull;

/** Objects of options, of the names and values that JSON gives. */
final class OptionSetters {
  private OptionSetters() {}

  /** Calls the setters that JSON names. */
  static <T> T set(T options, JsonObject values, Map<String, Object> objects)
      throws Exception {
    for (String name : values.keySet()) {
      List<Object> candidates = new ArrayList<>();
      if (!values.get(name).isJsonPrimitive()) {
        set(options, camel(name), List.of(plain(values.get(name))));
        continue;
      }
      JsonPrimitive value = values.getAsJsonPrimitive(name);
      if (name.equals("when_full")) {
        candidates.add(
            WhenFull.valueOf(value.getAsString().toUpperCase(Locale.ROOT)));
      } else if (name.equals("deadline")) {
        candidates.add(Duration.ofNanos((long) (value.getAsDouble() * 1e9)));
      } else if (name.equals("grammar")) {
        candidates.add(objects.get(value.getAsString()));
      } else if (value.isString()) {
        candidates.add(value.getAsString());
      } else if (value.isBoolean()) {
        candidates.add(value.getAsBoolean());
      } else {
        candidates.addAll(List.of(
            value.getAsInt(), value.getAsLong(), value.getAsDouble()));
      }
      set(options, camel(name), candidates);
    }
    return options;
  }

  private static void set(Object options, String name, List<Object> candidates)
      throws Exception {
    for (var method : options.getClass().getMethods()) {
      for (Object candidate : candidates) {
        if (method.getName().equals(name) && method.getParameterCount() == 1
            && (method.getParameterTypes()[0] == Object.class
                || boxed(method.getParameterTypes()[0])
                    == candidate.getClass())) {
          method.invoke(options, candidate);
          return;
        }
      }
    }
    fail("no option " + name + " of " + candidates);
  }

  /** Returns the objects of a program for JSON: Maps, Lists and simple values. */
  static Object plain(JsonElement value) {
    if (value.isJsonObject()) {
      Map<String, Object> members = new LinkedHashMap<>();
      for (String name : value.getAsJsonObject().keySet()) {
        members.put(name, plain(value.getAsJsonObject().get(name)));
      }
      return members;
    }
    if (value.isJsonArray()) {
      List<Object> items = new ArrayList<>();
      value.getAsJsonArray().forEach(each -> items.add(plain(each)));
      return items;
    }
    if (value.isJsonNull()) {
      return null;
    }
    JsonPrimitive simple = value.getAsJsonPrimitive();
    return simple.isString() ? simple.getAsString()
        : simple.isBoolean() ? (Object) simple.getAsBoolean()
                             : simple.getAsNumber();
  }

  private static Class<?> boxed(Class<?> kind) {
    return java.lang.invoke.MethodType.methodType(kind).wrap().returnType();
  }

  /** "top_k" is "topK". */
  static String camel(String name) {
    StringBuilder made = new StringBuilder();
    for (String word : name.split("_")) {
      made.append(made.isEmpty() ? word.charAt(0) : Character.toUpperCase(
          word.charAt(0))).append(word.substring(1));
    }
    return made.toString();
  }
}
