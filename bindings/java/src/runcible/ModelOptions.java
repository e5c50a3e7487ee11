package runcible;

import java.util.function.DoubleConsumer;

/**
 * The options of loading a {@link Model}.
 *
 * <p>Options that are not set have the default of the library. The setters
 * return the object itself.
 */
public final class ModelOptions {
  private final Settings<model_options> settings;
  private DoubleConsumer progress;

  /** Makes options with nothing set. */
  public ModelOptions() {
    settings = new Settings<>(model_options::new);
  }

  private ModelOptions(ModelOptions other) {
    settings = other.settings.copy();
    progress = other.progress;
  }

  // :api: setters rc_model_options

  /**
   * A function that receives the fraction done, 0 to 1, on the thread that
   * loads. An exception that it throws ends the load and is thrown by it.
   */
  public ModelOptions progress(DoubleConsumer function) {
    progress = function;
    return this;
  }

  DoubleConsumer progress() {
    return progress;
  }

  ModelOptions copy() {
    return new ModelOptions(this);
  }

  model_options make() {
    return settings.make();
  }
}
