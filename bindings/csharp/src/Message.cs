namespace Runcible {
  /// <summary>Messages of conversations as JSON, in the shape of "messages" of
  /// OpenAI's chat completions.</summary>
  public static class Message {
    /// <summary>What the model is told before all else.</summary>
    public static string System(string text) => Of("system", text);

    /// <summary>What the user says.</summary>
    public static string User(string text) => Of("user", text);

    /// <summary>What the model is to have answered.</summary>
    public static string Assistant(string text) => Of("assistant", text);

    /// <summary>What a call of a tool gave.</summary>
    public static string ToolResult(ToolCall call, string result) =>
        "{\"role\":\"tool\",\"tool_call_id\":" + Json.Quote(call.Id)
        + ",\"content\":" + Json.Quote(result) + "}";

    private static string Of(string role, string text) =>
        "{\"role\":\"" + role + "\",\"content\":" + Json.Quote(text) + "}";
  }
}
