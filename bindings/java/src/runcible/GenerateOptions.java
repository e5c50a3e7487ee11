package runcible;

import java.time.Duration;
import java.util.Map;

/**
 * The options of a generation: the prompt, the limits and how to choose tokens.
 *
 * <p>Options that are not set have the default of the library. The setters
 * return the object itself. A token is chosen in this order: logit bias,
 * penalties, then greedy if the temperature is 0, else top-k, typical, top-p,
 * min-p, temperature, and a draw.
 */
public final class GenerateOptions {
  private final Settings<generate_options> settings;
  private boolean addSpecial = true;
  private boolean parseSpecial;

  /** Makes options with nothing set. */
  public GenerateOptions() {
    settings = new Settings<>(generate_options::new);
  }

  private GenerateOptions(GenerateOptions other) {
    settings = other.settings.copy();
    addSpecial = other.addSpecial;
    parseSpecial = other.parseSpecial;
  }

  /**
   * The text to append to the session first. Without it, generation goes on
   * from the session as it is; an empty session then starts with the model's
   * BOS token.
   */
  public GenerateOptions prompt(String text) {
    byte[] bytes = Text.encode(text);
    settings.add(options -> options.set_prompt(bytes));
    return this;
  }

  /** The same as {@link #prompt}, as tokens. */
  public GenerateOptions promptTokens(int... tokens) {
    int[] copy = tokens.clone();
    settings.add(options -> options.set_prompt_tokens(copy));
    return this;
  }

  /** Adds the tokens that the model wants around a prompt in a new session. */
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

  /** Texts that end the generation and are not part of it. */
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

  /** Numbers to add to the logits of tokens; minus infinity forbids a token. */
  public GenerateOptions logitBias(Map<Integer, Float> biases) {
    Map.copyOf(biases).forEach((token, bias) ->
        settings.add(options -> options.add_logit_bias(token, bias)));
    return this;
  }

  /** The grammar of the text; it may be closed once the request has begun. */
  public GenerateOptions grammar(Grammar grammar) {
    settings.add(options -> options.set_grammar(grammar.handle));
    return this;
  }

  // :api: setters rc_generate_options

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
