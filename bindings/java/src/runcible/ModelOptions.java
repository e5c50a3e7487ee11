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

  /** {@rc rc_model_options.context_length} */
  public ModelOptions contextLength(long tokens) {
    settings.add(options -> options.setContext_length(tokens));
    return this;
  }

  /** {@rc rc_model_options.cache_tokens} */
  public ModelOptions cacheTokens(long tokens) {
    settings.add(options -> options.setCache_tokens(tokens));
    return this;
  }

  /** {@rc rc_model_options.cache_dtype} */
  public ModelOptions cacheDtype(Dtype dtype) {
    int number = dtype.number();
    settings.add(options -> options.setCache_dtype(number));
    return this;
  }

  /** {@rc rc_model_options.max_rows} */
  public ModelOptions maxRows(int rows) {
    settings.add(options -> options.setMax_rows(rows));
    return this;
  }

  /** {@rc rc_model_options.prefix_cache} */
  public ModelOptions prefixCache(boolean share) {
    settings.add(options -> options.setPrefix_cache(share ? 1 : 0));
    return this;
  }

  /** {@rc rc_model_options.keep_mapped} */
  public ModelOptions keepMapped(boolean keep) {
    settings.add(options -> options.setKeep_mapped(keep ? 1 : 0));
    return this;
  }

  /** {@rc rc_model_options.guard_mapped} */
  public ModelOptions guardMapped(boolean guard) {
    settings.add(options -> options.setGuard_mapped(guard ? 1 : 0));
    return this;
  }

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
