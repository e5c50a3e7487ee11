using System.Text;

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
        "{\"role\":\"tool\",\"tool_call_id\":" + Quote(call.Id)
        + ",\"content\":" + Quote(result) + "}";

    private static string Of(string role, string text) =>
        "{\"role\":\"" + role + "\",\"content\":" + Quote(text) + "}";

    /// A text as a string of JSON.
    private static string Quote(string text) {
      var quoted = new StringBuilder("\"");
      foreach (char each in text) {
        if (each == '"' || each == '\\') {
          quoted.Append('\\').Append(each);
        } else if (each < ' ') {
          quoted.Append("\\u").Append(((int)each).ToString("x4"));
        } else {
          quoted.Append(each);
        }
      }
      return quoted.Append('"').ToString();
    }
  }
}
