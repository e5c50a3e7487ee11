namespace Runcible {
  /// <summary>Messages of conversations as JSON, in the shape of "messages" of
  /// OpenAI's chat completions.</summary>
  public static class Message {
    /// <summary>Makes a system message: instructions that come before all
    /// else.</summary>
    public static string System(string text) => Of("system", text);

    /// <summary>Makes a message of the user.</summary>
    public static string User(string text) => Of("user", text);

    /// <summary>Makes a message that counts as an answer of the
    /// model.</summary>
    public static string Assistant(string text) => Of("assistant", text);

    /// <summary>Makes the message with the result of a tool call.</summary>
    public static string ToolResult(ToolCall call, string result) =>
        "{\"role\":\"tool\",\"tool_call_id\":" + Json.Quote(call.Id)
        + ",\"content\":" + Json.Quote(result) + "}";

    private static string Of(string role, string text) =>
        "{\"role\":\"" + role + "\",\"content\":" + Json.Quote(text) + "}";
  }
}
