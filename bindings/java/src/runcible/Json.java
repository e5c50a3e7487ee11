package runcible;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Converts objects of programs to JSON: maps, lists, arrays, records, and
 * values of JSON libraries, whose toString gives JSON.
 */
final class Json {
  private static final int DEEPEST_VALUE = 200;
  private static final Set<String> OF_LIBRARIES = Set.of(
      "com.fasterxml.jackson.databind.JsonNode",
      "tools.jackson.databind.JsonNode", "com.google.gson.JsonElement",
      "org.json.JSONObject", "org.json.JSONArray", "jakarta.json.JsonValue",
      "javax.json.JsonValue");

  private final StringBuilder text = new StringBuilder();
  private final String name;

  private Json(String name) {
    this.name = name;
  }

  /**
   * Returns the JSON of the argument `name`; a String is JSON already. Throws
   * IllegalArgumentException if a part of it has no JSON.
   */
  static String text(Object value, String name) {
    if (value instanceof String given) {
      return given;
    }
    Json json = new Json(name);
    json.write(value, 0);
    return json.text.toString();
  }

  /** Returns a text as a JSON string. */
  static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\') {
        quoted.append('\\').append(each);
      } else if (each < ' ') {
        quoted.append(String.format("\\u%04x", (int) each));
      } else {
        quoted.append(each);
      }
    }
    return quoted.append('"').toString();
  }

  private IllegalArgumentException refusal(String what) {
    return new IllegalArgumentException(name + ": " + what);
  }

  private void write(Object value, int depth) {
    if (depth > DEEPEST_VALUE) {
      throw refusal("values nest more than " + DEEPEST_VALUE
          + " deep, or are within themselves");
    }
    if (value == null || value instanceof Boolean) {
      text.append(value);
    } else if (isOfLibrary(value.getClass())) {
      text.append(value);
    } else if (value instanceof CharSequence || value instanceof Character) {
      text.append(quote(value.toString()));
    } else if (value instanceof Enum<?> constant) {
      text.append(quote(constant.name()));
    } else if (value instanceof Number number) {
      writeNumber(number);
    } else if (value instanceof Map<?, ?> map) {
      writeMembers(map, depth + 1);
    } else if (value instanceof Iterable<?> list) {
      writeItems(list, depth + 1);
    } else if (value.getClass().isArray()) {
      writeItems(itemsOf(value), depth + 1);
    } else if (value instanceof Record record) {
      writeMembers(membersOf(record), depth + 1);
    } else {
      throw refusal("JSON has nothing for an object of "
          + value.getClass().getName()
          + "; give a Map, a List, a record, or JSON");
    }
  }

  private static boolean isOfLibrary(Class<?> type) {
    if (type == null) {
      return false;
    }
    if (OF_LIBRARIES.contains(type.getName())
        || isOfLibrary(type.getSuperclass())) {
      return true;
    }
    for (Class<?> each : type.getInterfaces()) {
      if (isOfLibrary(each)) {
        return true;
      }
    }
    return false;
  }

  private void writeNumber(Number number) {
    double value = number.doubleValue();
    boolean binary = number instanceof Double || number instanceof Float;
    if (binary && (Double.isNaN(value) || Double.isInfinite(value))) {
      throw refusal("JSON has no number for " + number);
    }
    text.append(number);
  }

  private void writeMembers(Map<?, ?> members, int depth) {
    String before = "{";
    for (Map.Entry<?, ?> each : members.entrySet()) {
      if (!(each.getKey() instanceof String key)) {
        throw refusal("the key " + each.getKey() + " is no String");
      }
      text.append(before).append(quote(key)).append(':');
      write(each.getValue(), depth);
      before = ",";
    }
    text.append(before.equals("{") ? "{}" : "}");
  }

  private void writeItems(Iterable<?> items, int depth) {
    String before = "[";
    for (Object each : items) {
      text.append(before);
      write(each, depth);
      before = ",";
    }
    text.append(before.equals("[") ? "[]" : "]");
  }

  private static List<Object> itemsOf(Object array) {
    List<Object> items = new ArrayList<>();
    for (int i = 0; i < Array.getLength(array); ++i) {
      items.add(Array.get(array, i));
    }
    return items;
  }

  private Map<String, Object> membersOf(Record record) {
    Map<String, Object> members = new LinkedHashMap<>();
    for (RecordComponent each : record.getClass().getRecordComponents()) {
      try {
        each.getAccessor().setAccessible(true);
        members.put(each.getName(), each.getAccessor().invoke(record));
      } catch (IllegalAccessException | InvocationTargetException
          | RuntimeException failed) {
        throw refusal("the component " + each.getName() + " of "
            + record.getClass().getName() + " cannot be read: " + failed);
      }
    }
    return members;
  }
}
