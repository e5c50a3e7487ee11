package runcible;

/**
 * The options of a conversation: tools and template.
 *
 * <p>Options that are not set have the default of the library. The setters
 * return the object itself.
 */
public final class ChatOptions {
  private final Settings<chat_options> settings =
      new Settings<>(chat_options::new);

  /** Makes options with nothing set. */
  public ChatOptions() {}

  /**
   * The functions that the model may call, in the shape of "tools" of OpenAI's
   * chat completions: a list of objects, or a JSON array. Objects are Maps,
   * records, or values of a JSON library.
   */
  public ChatOptions tools(Object tools) {
    byte[] bytes = Text.name(Json.text(tools, "tools"));
    settings.add(options -> options.set_tools(bytes));
    return this;
  }

  /**
   * The name of a chat template: a variant in the file, or a well-known
   * template for files that have none ("chatml", "llama3", "zephyr", ...).
   */
  public ChatOptions templateName(String name) {
    byte[] bytes = Text.name(name);
    settings.add(options -> options.set_template_name(bytes));
    return this;
  }

  /**
   * The source of a chat template, in place of a name.
   */
  public ChatOptions templateText(String source) {
    byte[] bytes = Text.name(source);
    settings.add(options -> options.set_template_text(bytes));
    return this;
  }

  /**
   * More variables for the template: an object, or JSON.
   */
  public ChatOptions templateArguments(Object arguments) {
    byte[] bytes = Text.name(Json.text(arguments, "templateArguments"));
    settings.add(options -> options.set_template_arguments(bytes));
    return this;
  }

  /**
   * The current time for templates that write the date: "2024-07-26" or
   * "2024-07-26T14:05:09".
   */
  public ChatOptions now(String time) {
    byte[] bytes = Text.name(time);
    settings.add(options -> options.set_now(bytes));
    return this;
  }

  /** For models that can do both: whether to think before they answer. */
  public ChatOptions thinking(boolean think) {
    settings.add(options -> options.setThinking(think ? 1 : 0));
    return this;
  }

  chat_options make() {
    return settings.make();
  }
}
