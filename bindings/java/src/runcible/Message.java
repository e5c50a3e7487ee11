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
    return "{\"role\":\"tool\",\"tool_call_id\":" + Json.quote(call.id())
        + ",\"content\":" + Json.quote(result) + "}";
  }

  private static String of(String role, String text) {
    return "{\"role\":\"" + role + "\",\"content\":" + Json.quote(text) + "}";
  }
}
