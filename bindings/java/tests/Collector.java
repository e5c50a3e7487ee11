import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import runcible.Piece;

/** A subscriber that keeps the pieces, and the end. */
class Collector implements Flow.Subscriber<Piece> {
  final List<Piece> pieces = new ArrayList<>();
  final CompletableFuture<String> text = new CompletableFuture<>();
  volatile Flow.Subscription subscription;
  private final long first;
  private final Consumer<Piece> also;

  /** Requests all pieces at once. */
  Collector() {
    this(Long.MAX_VALUE, piece -> {});
  }

  /** Requests `first` pieces, or none if it is 0, and does `also` with each. */
  Collector(long first, Consumer<Piece> also) {
    this.first = first;
    this.also = also;
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    if (first != 0) {
      given.request(first);
    }
  }

  @Override
  public synchronized void onNext(Piece piece) {
    pieces.add(piece);
    also.accept(piece);
  }

  @Override
  public void onError(Throwable error) {
    text.completeExceptionally(error);
  }

  @Override
  public void onComplete() {
    text.complete(soFar());
  }

  synchronized String soFar() {
    return String.join("", pieces.stream().map(Piece::text).toList());
  }

  synchronized int count() {
    return pieces.size();
  }

  /** Waits for the end; returns the text, or throws the error of onError. */
  String join() throws Exception {
    try {
      return text.orTimeout(5, TimeUnit.MINUTES).join();
    } catch (CompletionException failure) {
      throw (Exception) failure.getCause();
    }
  }
}
