package runcible;

/**
 * Messages of conversations as JSON, in the shape of "messages" of OpenAI's chat
 * completions.
 */
public final class Message {
  private Message() {}

  /** What the model is told before all else. */
  public static String system(String text) {
    return of("system", text);
  }

  /** What the user says. */
  public static String user(String text) {
    return of("user", text);
  }

  /** What the model is to have answered. */
  public static String assistant(String text) {
    return of("assistant", text);
  }

  /** What a call of a tool gave. */
  public static String toolResult(ToolCall call, String result) {
    return "{\"role\":\"tool\",\"tool_call_id\":" + quote(call.id())
        + ",\"content\":" + quote(result) + "}";
  }

  private static String of(String role, String text) {
    return "{\"role\":\"" + role + "\",\"content\":" + quote(text) + "}";
  }

  /** A text as a string of JSON. */
  private static String quote(String text) {
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
}
