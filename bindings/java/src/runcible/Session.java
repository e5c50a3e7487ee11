package runcible;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** {@rc session.h} */
public final class Session extends Handle {
  private final session handle;
  private final Uses uses = new Uses();

  Session(session handle) {
    super(handle);
    this.handle = handle;
  }

  /** {@rc rc_session_restore} */
  public static Session restore(Model model, Path saved) {
    return restore(model, saved, new SessionOptions());
  }

  /** {@rc rc_session_restore} */
  public static Session restore(
      Model model, Path saved, SessionOptions options) {
    byte[] path = Text.path(saved);
    try (session_options made = options.make()) {
      return new Session(new session(
          (Long) Native.session_restore(model.handle, path, made)));
    }
  }

  /** Restores from memory; see {@link #save()}. */
  public static Session restore(
      Model model, byte[] saved, SessionOptions options) {
    try (session_options made = options.make()) {
      return new Session(new session(
          (Long) Native.session_restore_memory(model.handle, saved, made)));
    }
  }

  /** Starts a generation; its iterator returns the pieces. */
  public Generation generate(String prompt) {
    return generate(prompt, new GenerateOptions());
  }

  /** Starts a generation; its iterator returns the pieces. */
  public Generation generate(String prompt, GenerateOptions options) {
    return generate(options.copy().prompt(prompt));
  }

  /** The same with the prompt of the options, or from the session as it is. */
  public Generation generate(GenerateOptions options) {
    try (generate_options made = options.make()) {
      uses.endLeft();
      Generation generation = new Generation(
          new request((Long) Native.request_start(handle, made)));
      uses.add(generation.use());
      return generation;
    }
  }

  /**
   * Returns a generation that starts with its subscriber, who gets the pieces.
   */
  public PieceStream stream(String prompt) {
    return stream(prompt, new GenerateOptions());
  }

  /**
   * Returns a generation that starts with its subscriber, who gets the pieces.
   */
  public PieceStream stream(String prompt, GenerateOptions options) {
    return stream(options.copy().prompt(prompt));
  }

  /** The same with the prompt of the options, or from the session as it is. */
  public PieceStream stream(GenerateOptions options) {
    return new PieceStream(handle, options.copy(), uses);
  }

  /** Generates the whole text. Cancelling the future cancels the generation. */
  public CompletableFuture<Completion> generateAsync(String prompt) {
    return generateAsync(prompt, new GenerateOptions());
  }

  /** Generates the whole text. Cancelling the future cancels the generation. */
  public CompletableFuture<Completion> generateAsync(
      String prompt, GenerateOptions options) {
    return generateAsync(options.copy().prompt(prompt));
  }

  /** The same with the prompt of the options, or from the session as it is. */
  public CompletableFuture<Completion> generateAsync(GenerateOptions options) {
    PendingCompletion pending = new PendingCompletion();
    uses.cancelLeft();
    pending.start(PieceStream.of(handle, options));
    return pending;
  }

  /** Begins a conversation with the template of the model's file. */
  public Chat chat() {
    return chat(new ChatOptions());
  }

  /**
   * Begins a conversation without messages over the session. Throws {@link
   * RuncibleException.InvalidArgument} if an option is wrong, {@link
   * RuncibleException.NotFound} if there is no such template or the file has
   * none, {@link RuncibleException.Unsupported} if the model has no tokenizer,
   * {@link RuncibleException.Format} if the template has a mistake.
   */
  public Chat chat(ChatOptions options) {
    try (chat_options made = options.make()) {
      return new Chat(Native.chat_create(idle(), made), uses);
    }
  }

  /** {@rc rc_session_append} */
  public void append(int... tokens) {
    Native.session_append(idle(), tokens);
  }

  /** Adds a text, with the tokens that the model wants in a new session. */
  public void append(String text) {
    append(text, true, false);
  }

  /**
   * Adds a text.
   *
   * @param addSpecial {@rc RC_TOKENIZE_ADD_SPECIAL}
   * @param parseSpecial {@rc RC_TOKENIZE_PARSE_SPECIAL}
   */
  public void append(String text, boolean addSpecial, boolean parseSpecial) {
    int flags = GenerateOptions.tokenizeFlags(addSpecial, parseSpecial);
    Native.session_append_text(idle(), Text.encode(text), flags);
  }

  /** {@rc rc_session_decode} */
  public void decode() {
    Native.session_decode(idle(), 0);
  }

  /** The same; then {@link #logits} has a row for each evaluated token. */
  public void decodeAll() {
    Native.session_decode(idle(), Native.DECODE_ALL_LOGITS);
  }

  /**
   * Decodes in a thread of the common pool. It cannot be cancelled: the session
   * is busy until it has ended.
   */
  public CompletableFuture<Void> decodeAsync() {
    return decodeAsync(this::decode);
  }

  /** The same for {@link #decodeAll()}. */
  public CompletableFuture<Void> decodeAllAsync() {
    return decodeAsync(this::decodeAll);
  }

  private CompletableFuture<Void> decodeAsync(Runnable decode) {
    uses.endLeft();
    return CompletableFuture.runAsync(decode);
  }

  /**
   * Returns a copy of the logits of the last decode, [rows][vocabulary]: one
   * row, or one for each evaluated token. Throws {@link
   * RuncibleException.NotFound} if there was no decode since the last change.
   */
  public float[][] logits() {
    return (float[][]) Native.session_logits(idle());
  }

  // :api: methods rc_session

  /** Returns the session for a call that must not run during a generation. */
  private session idle() {
    uses.endLeft();
    return handle;
  }
}
