package runcible;

/**
 * Messages of conversations as JSON, in the shape of "messages" of OpenAI's
 * chat completions.
 */
public final class Message {
  private Message() {}

  /** Makes a system message: instructions that come before all else. */
  public static String system(String text) {
    return of("system", text);
  }

  /** Makes a message of the user. */
  public static String user(String text) {
    return of("user", text);
  }

  /** Makes a message that counts as an answer of the model. */
  public static String assistant(String text) {
    return of("assistant", text);
  }

  /** Makes the message with the result of a tool call. */
  public static String toolResult(ToolCall call, String result) {
    return "{\"role\":\"tool\",\"tool_call_id\":" + Json.quote(call.id())
        + ",\"content\":" + Json.quote(result) + "}";
  }

  private static String of(String role, String text) {
    return "{\"role\":\"" + role + "\",\"content\":" + Json.quote(text) + "}";
  }
}
