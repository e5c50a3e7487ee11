package runcible;

/**
 * How a {@link Session} begins.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself.
 */
public final class SessionOptions {
  private final Settings<session_options> settings =
      new Settings<>(session_options::new);

  /** Nothing is set. */
  public SessionOptions() {}

  /** {@rc rc_session_options.context_length} */
  public SessionOptions contextLength(long tokens) {
    settings.add(options -> options.setContext_length(tokens));
    return this;
  }

  /** {@rc rc_session_options.keep_tokens} */
  public SessionOptions keepTokens(long count) {
    settings.add(options -> options.setKeep_tokens(count));
    return this;
  }

  /** What happens when the context is full; an error if it is not set. */
  public SessionOptions whenFull(WhenFull action) {
    int number = action.number();
    settings.add(options -> options.setWhen_full(number));
    return this;
  }

  session_options make() {
    return settings.make();
  }
}
