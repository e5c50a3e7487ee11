using System.Json;
using System.Linq;
using Runcible;

/// The steps of grammars and conversations.
partial class Conformance {
  private bool ActOnChats(JsonObject step) {
    switch ((string)step["do"]) {
      case "grammar":
        objects[step["as"]] = GrammarOf(step);
        break;
      case "chat":
        objects[step["as"]] = Session(step).Chat(
            With(new ChatOptions(), step, "options"));
        break;
      case "add":
        Chat(step).Add(Plain(step["messages"]));
        break;
      case "undo":
        Chat(step).Undo(step["count"]);
        break;
      case "messages":
        Check.That(
            Same(step["expect"], JsonValue.Parse(Chat(step).Messages())),
            Chat(step).Messages());
        break;
      case "fork_chat":
        objects[step["as"]] = Chat(step).Fork();
        break;
      case "answer":
        AnswerStream answer =
            Chat(step).Answer(With(new GenerateOptions(), step, "options"));
        CheckReply(step, answer.ReplyAsync().GetAwaiter().GetResult());
        break;
      case "ask":
        CheckReply(
            step,
            Chat(step).Ask(
                step["text"], With(new GenerateOptions(), step, "options")));
        break;
      default:
        return false;
    }
    return true;
  }

  private Chat Chat(JsonValue step) => (Chat)objects[step["chat"]];

  private Grammar GrammarOf(JsonValue step) {
    using (Tokenizer tokenizer = Model(step).Tokenizer()) {
      switch ((string)step["kind"]) {
        case "json_schema":
          return Grammar.JsonSchema(
              tokenizer, Plain(step["schema"]),
              With(new GrammarOptions(), step, "options"));
        case "regex":
          return Grammar.Regex(tokenizer, step["text"]);
        case "gbnf":
          return Grammar.Gbnf(tokenizer, step["text"]);
        case "lark":
          return Grammar.Lark(tokenizer, step["text"]);
        default:
          return Grammar.Choices(
              tokenizer,
              step["choices"].Cast<JsonValue>().Select(each => (string)each));
      }
    }
  }

  private static void CheckReply(JsonValue step, Reply reply) {
    JsonValue expected = step["expect"];
    Check.Equal((string)expected["text"], reply.Text);
    Check.Equal((string)expected["reasoning"], reply.Reasoning);
    Check.Equal(expected["calls"].Count, reply.ToolCalls.Count);
    for (int i = 0; i < reply.ToolCalls.Count; ++i) {
      JsonValue call = expected["calls"][i];
      Check.Equal((string)call["id"], reply.ToolCalls[i].Id);
      Check.Equal((string)call["name"], reply.ToolCalls[i].Name);
      Check.That(Same(
          call["arguments"], JsonValue.Parse(reply.ToolCalls[i].Arguments)));
    }
    Check.Equal(Reason(step), reply.Report.Reason);
  }

  /// Whether two values of JSON are the same, in whatever order their members
  /// are.
  private static bool Same(JsonValue one, JsonValue other) {
    if (one is JsonObject members) {
      return other is JsonObject && members.Count == other.Count
          && members.Keys.All(key =>
              other.ContainsKey(key) && Same(members[key], other[key]));
    }
    if (one is JsonArray list) {
      return other is JsonArray && list.Count == other.Count
          && Enumerable.Range(0, list.Count).All(i => Same(list[i], other[i]));
    }
    return one.ToString() == other.ToString();
  }
}
