package runcible;

import java.time.Duration;
import java.util.Map;

/**
 * What to generate and how to choose.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself. The chain of a choice, in this order: logit bias, penalties,
 * then greedy if the temperature is 0, else top-k, typical, top-p, min-p,
 * temperature, and a draw.
 */
public final class GenerateOptions {
  private final Settings<generate_options> settings;
  private boolean addSpecial = true;
  private boolean parseSpecial;

  /** Nothing is set. */
  public GenerateOptions() {
    settings = new Settings<>(generate_options::new);
  }

  private GenerateOptions(GenerateOptions other) {
    settings = other.settings.copy();
    addSpecial = other.addSpecial;
    parseSpecial = other.parseSpecial;
  }

  /**
   * Appended to the session first. Without it, generation goes on from the
   * session as it is; an empty session then starts with the model's BOS token.
   */
  public GenerateOptions prompt(String text) {
    byte[] bytes = Text.encode(text);
    settings.add(options -> options.set_prompt(bytes));
    return this;
  }

  /** The same as tokens. */
  public GenerateOptions promptTokens(int... tokens) {
    int[] copy = tokens.clone();
    settings.add(options -> options.set_prompt_tokens(copy));
    return this;
  }

  /** Adds what the model wants around a prompt at the start of a session. */
  public GenerateOptions addSpecial(boolean add) {
    addSpecial = add;
    return this;
  }

  /**
   * Recognises the text of special tokens in the prompt as those tokens. Do not
   * use it on text from people you do not trust.
   */
  public GenerateOptions parseSpecial(boolean parse) {
    parseSpecial = parse;
    return this;
  }

  /** From the start on; then the generation ends with what it has. */
  public GenerateOptions deadline(Duration time) {
    long milliseconds = Limits.milliseconds(time, "deadline");
    settings.add(options -> options.setDeadline_ms(milliseconds));
    return this;
  }

  /** Texts that end the generation and are no part of it. */
  public GenerateOptions stop(String... texts) {
    for (String text : texts) {
      byte[] bytes = Text.name(text);
      settings.add(options -> options.add_stop(bytes));
    }
    return this;
  }

  /** Tokens that end the generation. */
  public GenerateOptions stopTokens(int... tokens) {
    int[] copy = tokens.clone();
    settings.add(options -> options.set_stop_tokens(copy));
    return this;
  }

  /** Added to the logits of tokens; minus infinity forbids one. */
  public GenerateOptions logitBias(Map<Integer, Float> biases) {
    Map.copyOf(biases).forEach((token, bias) ->
        settings.add(options -> options.add_logit_bias(token, bias)));
    return this;
  }

  /** Delivers the prompt as the first piece. */
  public GenerateOptions echo(boolean deliver) {
    settings.add(options -> options.setEcho(deliver ? 1 : 0));
    return this;
  }

  /** The most tokens to generate; -1: until the context is full. */
  public GenerateOptions maxTokens(long count) {
    settings.add(options -> options.setMax_tokens(count));
    return this;
  }

  /** Greater ones are served first; 0 is normal. */
  public GenerateOptions priority(int value) {
    settings.add(options -> options.setPriority(value));
    return this;
  }

  /**
   * The same seed, options and logits give the same tokens. Read as an
   * unsigned number.
   */
  public GenerateOptions seed(long value) {
    settings.add(options -> options.setSeed(value));
    return this;
  }

  /** 0: always the most probable token. */
  public GenerateOptions temperature(double value) {
    settings.add(options -> options.setTemperature((float) value));
    return this;
  }

  /** Choose among so many; 0: off. */
  public GenerateOptions topK(int count) {
    settings.add(options -> options.setTop_k(count));
    return this;
  }

  /**
   * Choose among the most probable that together have this probability,
   * (0, 1]; 1: off.
   */
  public GenerateOptions topP(double value) {
    settings.add(options -> options.setTop_p((float) value));
    return this;
  }

  /**
   * Choose among those at least so probable as this fraction of the most
   * probable, [0, 1]; 0: off.
   */
  public GenerateOptions minP(double value) {
    settings.add(options -> options.setMin_p((float) value));
    return this;
  }

  /** Locally typical sampling (arXiv:2202.00666), (0, 1]; 1: off. */
  public GenerateOptions typicalP(double value) {
    settings.add(options -> options.setTypical_p((float) value));
    return this;
  }

  /** How many of the last tokens the penalties look at; 0: none, -1: all. */
  public GenerateOptions penaltyTokens(int count) {
    settings.add(options -> options.setPenalty_tokens(count));
    return this;
  }

  /**
   * Logits of tokens seen are divided (if positive) or multiplied (if
   * negative) by it; 1: off.
   */
  public GenerateOptions repetitionPenalty(double value) {
    settings.add(options -> options.setRepetition_penalty((float) value));
    return this;
  }

  /** Subtracted once from the logits of tokens seen. */
  public GenerateOptions presencePenalty(double value) {
    settings.add(options -> options.setPresence_penalty((float) value));
    return this;
  }

  /** Subtracted from the logits of tokens seen, per occurrence. */
  public GenerateOptions frequencyPenalty(double value) {
    settings.add(options -> options.setFrequency_penalty((float) value));
    return this;
  }

  /** The model's own end tokens do not stop it. */
  public GenerateOptions ignoreEos(boolean ignore) {
    settings.add(options -> options.setIgnore_eos(ignore ? 1 : 0));
    return this;
  }

  /**
   * Gives logprobs of each token and of so many of the most probable, at most
   * 64, before bias and penalties; -1: none.
   */
  public GenerateOptions logprobs(int count) {
    settings.add(options -> options.setLogprobs(count));
    return this;
  }

  static int tokenizeFlags(boolean addSpecial, boolean parseSpecial) {
    return (addSpecial ? Native.TOKENIZE_ADD_SPECIAL : 0)
        | (parseSpecial ? Native.TOKENIZE_PARSE_SPECIAL : 0);
  }

  GenerateOptions copy() {
    return new GenerateOptions(this);
  }

  generate_options make() {
    generate_options made = settings.make();
    made.setTokenize_flags(tokenizeFlags(addSpecial, parseSpecial));
    return made;
  }
}
