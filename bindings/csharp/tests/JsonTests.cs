using System;
using System.Collections;
using System.Collections.Generic;
using System.Json;
using Runcible;

/// Schemas, tools, choices and messages as objects.
class JsonTests {
  private const string Text =
      "{\"type\": \"object\", \"required\": [\"clouds\", \"sky\"],"
      + " \"properties\": {\"clouds\": {\"type\": \"integer\", \"const\": 2},"
      + " \"sky\": {\"const\": \"gr\\u00e9y\"}}}";
  private readonly Model model =
      new Model("builtin:fable", new Backend("cpu"));

  private class Sky {
    public string type { get; } = "object";
    public IEnumerable<string> required { get; } = new[] { "clouds", "sky" };
    public Hashtable properties { get; } = new Hashtable {
      { "clouds", new { type = "integer", @const = (short)2 } },
      { "sky", new Dictionary<string, string> { { "const", "gr\u00e9y" } } }
    };
  }

  private static IEnumerable<object> Schemas() {
    yield return Text;
    yield return JsonValue.Parse(Text);
    yield return new Sky();
    yield return new {
      type = "object", required = new List<object> { "clouds", "sky" },
      properties = new SortedDictionary<string, object> {
        { "sky", new { @const = "gr\u00e9y" } },
        { "clouds", new { type = "integer", @const = 2m, minimum = 1.5 } }
      }
    };
  }

  public void TestObjectsAreSchemasOfGrammars() {
    using (Tokenizer tokenizer = model.Tokenizer()) {
      foreach (object schema in Schemas()) {
        Grammar grammar = Grammar.JsonSchema(tokenizer, schema);
        CheckSky(model.Session().Generate(
            "A", new GenerateOptions { Grammar = grammar }).Text());
      }
    }
  }

  public void TestObjectsAreFormatsOfAnswers() {
    foreach (object schema in Schemas()) {
      object inner = schema is string ? JsonValue.Parse(Text) : schema;
      Chat chat = model.Session().Chat(
          new ChatOptions { TemplateName = "zephyr" });
      Reply reply = chat.Ask("How is it?", new GenerateOptions {
        ResponseFormat = new {
          type = "json_schema", json_schema = new { name = "sky", schema = inner }
        }
      });
      CheckSky(reply.Text);
    }
  }

  private static void CheckSky(string text) {
    JsonValue made = JsonValue.Parse(text);
    Check.Equal(2, (int)made["clouds"]);
    Check.Equal("gr\u00e9y", (string)made["sky"]);
  }

  public void TestObjectsAreMessages() {
    Chat chat = model.Session().Chat(
        new ChatOptions { TemplateName = "zephyr" });
    chat.Add(new { role = "user", content = "a\"\n" });
    chat.Add(new[] {
      new Dictionary<string, string> {
        { "role", "assistant" }, { "content", "b" } } });
    chat.Add(Message.User("c"));
    JsonValue messages = JsonValue.Parse(chat.Messages());
    Check.Equal(3, messages.Count);
    Check.Equal("a\"\n", (string)messages[0]["content"]);
    Check.Equal("c", (string)messages[2]["content"]);
  }

  public void TestErrorsNameTheArgument() {
    Chat chat = model.Session().Chat(
        new ChatOptions { TemplateName = "zephyr" });
    chat.Add(Message.User("a"));
    var circle = new List<object>();
    circle.Add(circle);
    foreach (object bad in new object[] {
        circle, double.NaN, typeof(int), (Action)(() => {}),
        new Hashtable { { 1, 2 } } }) {
      object within = new { a = bad };
      Named("ResponseFormat", () => chat.Ask(
          null, new GenerateOptions { ResponseFormat = within }));
      Named("ToolChoice", () => chat.Ask(
          null, new GenerateOptions { ToolChoice = within }));
      Named("messages", () => chat.Add(within));
      Named("Tools", () => model.Session().Chat(
          new ChatOptions { Tools = within }));
      Named("schema", () => Grammar.JsonSchema(model.Tokenizer(), within));
    }
  }

  private static void Named(string name, Action wrong) {
    ArgumentException error = Check.Throws<ArgumentException>(wrong);
    Check.That(
        error.Message.StartsWith(name + ": ", StringComparison.Ordinal),
        error.Message);
  }
}
