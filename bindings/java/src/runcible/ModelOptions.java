package runcible;

import java.util.function.DoubleConsumer;

/**
 * How to load a {@link Model}.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself.
 */
public final class ModelOptions {
  private final Settings<model_options> settings;
  private DoubleConsumer progress;

  /** Nothing is set. */
  public ModelOptions() {
    settings = new Settings<>(model_options::new);
  }

  private ModelOptions(ModelOptions other) {
    settings = other.settings.copy();
    progress = other.progress;
  }

  // :api: setters rc_model_options

  /**
   * Told the fraction done, 0 to 1, on the thread that loads. What it throws
   * ends the load and is thrown by it.
   */
  public ModelOptions progress(DoubleConsumer told) {
    progress = told;
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
