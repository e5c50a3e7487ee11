package runcible;

import java.util.ArrayList;
import java.util.List;

/** The future of a completion. */
final class PendingCompletion extends Pending<Completion> {
  private final List<Integer> tokens = new ArrayList<>();

  @Override
  void add(Part part) {
    text.append(part);
    tokens.addAll(((Piece) part).tokens());
  }

  @Override
  Completion made(Report report) {
    return new Completion(text.toString(), List.copyOf(tokens), report);
  }
}
