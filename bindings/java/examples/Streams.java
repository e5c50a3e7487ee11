import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import runcible.Backend;
import runcible.GenerateOptions;
import runcible.Model;
import runcible.ModelOptions;
import runcible.Piece;
import runcible.Session;

/**
 * Generates several texts at once without a thread for each: prints each text,
 * sentence by sentence, as it comes.
 *
 * <pre>java -cp runcible.jar Streams.java [MODEL.gguf]</pre>
 */
class Streams {
  public static void main(String[] arguments) {
    String path = arguments.length > 0 ? arguments[0] : "builtin:fable";
    try (var backend = Backend.open();
        var model =
            Model.loadAsync(path, backend, new ModelOptions()).join()) {
      var tellers = List.of("A fox", "A goose", "A bear").stream()
          .map(beginning -> new Teller(model, beginning)).toList();
      tellers.forEach(teller -> teller.done.join());
    }
  }

  /** Requests each piece after it has handled the one before. */
  static class Teller implements Flow.Subscriber<Piece> {
    final CompletableFuture<Void> done = new CompletableFuture<>();
    private final Session session;
    private final StringBuilder sentence;
    private Flow.Subscription subscription;

    Teller(Model model, String beginning) {
      session = model.session();
      sentence = new StringBuilder(beginning);
      session.stream(beginning, new GenerateOptions().maxTokens(80))
          .subscribe(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
      subscription.request(1);
    }

    @Override
    public void onNext(Piece piece) {
      sentence.append(piece);
      if (piece.text().endsWith(".")) {
        System.out.println(sentence.toString().strip());
        sentence.setLength(0);
      }
      subscription.request(1);
    }

    @Override
    public void onError(Throwable error) {
      session.close();
      done.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      System.out.println(sentence.toString().strip() + " ...");
      session.close();
      done.complete(null);
    }
  }
}
