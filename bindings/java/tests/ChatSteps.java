import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import runcible.AnswerStream;
import runcible.ChatOptions;
import runcible.Grammar;
import runcible.GrammarOptions;
import runcible.Part;
import runcible.Reasoning;
import runcible.Reply;
import runcible.Tokenizer;
import runcible.ToolCall;

/** The steps of grammars and conversations. */
final class ChatSteps {
  private ChatSteps() {}

  /** False if the step is another's. */
  static boolean act(Step step) throws Exception {
    switch (step.text("do")) {
      case "grammar" -> step.put(grammar(step));
      case "chat" -> step.put(step.session().chat(
          step.with(new ChatOptions(), "options")));
      case "add" -> step.chat().add(
          OptionSetters.plain(step.json.get("messages")));
      case "undo" -> step.chat().undo(step.whole("count"));
      case "messages" -> assertEquals(
          step.json.get("expect"),
          JsonParser.parseString(step.chat().messages()));
      case "fork_chat" -> step.put(step.chat().fork());
      case "answer" -> answer(step);
      case "ask" -> checkReply(
          step, step.chat().ask(step.text("text"), step.generateOptions()));
      default -> {
        return false;
      }
    }
    return true;
  }

  private static Grammar grammar(Step step) throws Exception {
    Tokenizer tokenizer = step.model().tokenizer();
    return switch (step.text("kind")) {
      case "json_schema" -> Grammar.jsonSchema(
          tokenizer, OptionSetters.plain(step.json.get("schema")),
          step.with(new GrammarOptions(), "options"));
      case "regex" -> Grammar.regex(tokenizer, step.text("text"));
      case "gbnf" -> Grammar.gbnf(tokenizer, step.text("text"));
      case "lark" -> Grammar.lark(tokenizer, step.text("text"));
      default -> Grammar.choices(tokenizer, List.of(
          new Gson().fromJson(step.json.get("choices"), String[].class)));
    };
  }

  /** By a subscriber, who gets all parts. */
  private static void answer(Step step) throws Exception {
    AnswerStream stream = step.chat().answer(step.generateOptions());
    StringBuilder text = new StringBuilder();
    StringBuilder reasoning = new StringBuilder();
    List<ToolCall> calls = new ArrayList<>();
    CompletableFuture<Void> ended = new CompletableFuture<>();
    stream.subscribe(new Flow.Subscriber<Part>() {
      @Override
      public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
      }

      @Override
      public void onNext(Part part) {
        if (part instanceof ToolCall call) {
          calls.add(call);
        } else {
          (part instanceof Reasoning ? reasoning : text).append(part);
        }
      }

      @Override
      public void onError(Throwable failure) {
        ended.completeExceptionally(failure);
      }

      @Override
      public void onComplete() {
        ended.complete(null);
      }
    });
    try {
      ended.get();
    } catch (ExecutionException failed) {
      throw (Exception) failed.getCause();
    }
    checkReply(step, new Reply(
        text.toString(), reasoning.toString(), calls, stream.report().join()));
  }

  private static void checkReply(Step step, Reply reply) {
    JsonObject expected = step.object("expect");
    assertEquals(expected.get("text").getAsString(), reply.text());
    assertEquals(expected.get("reasoning").getAsString(), reply.reasoning());
    JsonArray calls = new JsonArray();
    for (ToolCall each : reply.toolCalls()) {
      JsonObject call = new JsonObject();
      call.addProperty("id", each.id());
      call.addProperty("name", each.name());
      call.add("arguments", JsonParser.parseString(each.arguments()));
      calls.add(call);
    }
    assertEquals(expected.get("calls"), calls);
    assertEquals(step.reason(), reply.report().reason());
  }
}
