import static org.junit.jupiter.api.Assertions.fail;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import runcible.Model;
import runcible.Tokenizer;

/** Calls the package by the names in the cases, with JSON values. */
final class Calls {
  private static final Object NONE = new Object();

  private Calls() {}

  /** Converts "top_k" to "topK". */
  static String camel(String name) {
    StringBuilder made = new StringBuilder();
    for (String word : name.split("_")) {
      if (word.isEmpty()) {
        continue;
      }
      made.append(made.isEmpty() ? word.charAt(0) : Character.toUpperCase(
          word.charAt(0))).append(word.substring(1));
    }
    return made.toString();
  }

  /** Calls a method of an object, or a static one of a class. */
  static Object call(
      Object target, String name, List<Object> given, Map<String, Object> options)
      throws Exception {
    Class<?> kind = target instanceof Class<?> one ? one : target.getClass();
    List<Object> all = new ArrayList<>(given);
    if (options != null) {
      all.add(options);
    }
    List<Object> positional = new ArrayList<>(given);
    if (options != null) {
      positional.addAll(options.values());
    }
    for (List<Object> arguments : List.of(all, positional)) {
      for (Method method : methods(kind, camel(name))) {
        Object[] made = converted(arguments, method);
        if (made != null) {
          return invoke(method, target, made);
        }
      }
    }
    return fail("no " + kind.getName() + "." + camel(name) + " takes " + all);
  }

  private static List<Method> methods(Class<?> kind, String name) {
    return Stream.of(kind.getMethods()).filter(each -> each.getName().equals(name))
        .sorted(Comparator.comparing(Method::getParameterCount)).toList();
  }

  private static Object invoke(Method method, Object target, Object... given)
      throws Exception {
    try {
      return method.invoke(target, given);
    } catch (InvocationTargetException failed) {
      throw (Exception) failed.getCause();
    }
  }

  /** Returns the arguments for a method, or null; those not given are null, false or 0, and the last dimension. */
  private static Object[] converted(List<Object> given, Method method) throws Exception {
    Class<?>[] kinds = method.getParameterTypes();
    List<Object> all = given;
    if (method.isVarArgs() && given.size() >= kinds.length
        && !(given.get(kinds.length - 1) instanceof List)) {
      all = new ArrayList<>(given.subList(0, kinds.length - 1));
      all.add(given.subList(kinds.length - 1, given.size()));
    }
    if (all.size() > kinds.length) {
      return null;
    }
    Object[] made = new Object[kinds.length];
    for (int i = 0; i < kinds.length; ++i) {
      made[i] = i < all.size() ? converted(all.get(i), kinds[i])
          : kinds[i] == boolean.class ? (Object) false
          : kinds[i] == double.class ? (Object) 0.0
          : kinds[i] == int.class ? (Object) (-1)
          : kinds[i].isPrimitive() ? NONE : null;
      if (made[i] == NONE) {
        return null;
      }
    }
    return made;
  }

  /** Converts a value to an argument of a type; returns NONE if it cannot. */
  private static Object converted(Object value, Class<?> kind) throws Exception {
    if (value == null) {
      return kind.isPrimitive() ? NONE : null;
    }
    if (value instanceof Number number && kind != Object.class) {
      double exact = number.doubleValue();
      boolean whole = exact == Math.rint(exact);
      return kind == double.class ? (Object) exact
          : kind == float.class ? (Object) (float) exact
          : kind == int.class && whole ? (Object) number.intValue()
          : kind == long.class && whole ? (Object) number.longValue()
          : kind == Duration.class ? Duration.ofNanos((long) (exact * 1e9))
          : NONE;
    }
    if (kind.isInstance(value) || kind == boolean.class && value instanceof Boolean) {
      return value;
    }
    if (value instanceof List<?> list && kind.isArray()) {
      Object made = Array.newInstance(kind.getComponentType(), list.size());
      for (int i = 0; i < list.size(); ++i) {
        Object each = converted(list.get(i), kind.getComponentType());
        if (each == NONE) {
          return NONE;
        }
        Array.set(made, i, each);
      }
      return made;
    }
    if (value instanceof String text && kind.isEnum()) {
      for (Object each : kind.getEnumConstants()) {
        if (((Enum<?>) each).name().equals(text.toUpperCase(Locale.ROOT))) {
          return each;
        }
      }
    }
    if (value instanceof Path path && kind == String.class) {
      return path.toString();
    }
    if (value instanceof Model model && kind == Tokenizer.class) {
      return model.tokenizer();
    }
    if (value instanceof Map && kind.getName().endsWith("Options")) {
      return options(kind, Conformance.map(value));
    }
    return NONE;
  }

  /** Makes options by calling the setters of these names. */
  static <T> T options(Class<T> kind, Map<String, Object> given) throws Exception {
    T made = kind.getConstructor().newInstance();
    for (var each : given == null ? Map.<String, Object>of().entrySet() : given.entrySet()) {
      Object value = each.getValue();
      if (each.getKey().equals("logit_bias")) {
        value = biases(Conformance.list(value));
      }
      boolean isPair = List.of("stride", "padding").contains(each.getKey());
      call(made, each.getKey(), isPair ? Conformance.list(value) : List.of(value), null);
    }
    return made;
  }

  private static Map<Integer, Float> biases(List<Object> pairs) {
    Map<Integer, Float> made = new java.util.HashMap<>();
    for (Object each : pairs) {
      List<Object> pair = Conformance.list(each);
      made.put(((Number) pair.get(0)).intValue(), pair.get(1) == null
          ? Float.NEGATIVE_INFINITY : ((Number) pair.get(1)).floatValue());
    }
    return made;
  }
}
