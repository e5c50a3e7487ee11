package runcible;

/**
 * The options of {@link Tensor#random}; standard normal if nothing is set.
 *
 * <p>Options that are not set have the default of the library. The setters
 * return the object itself.
 */
public final class RandomOptions {
  private final Settings<random_options> settings =
      new Settings<>(random_options::new);

  /** Makes options with nothing set. */
  public RandomOptions() {}

  /** {@rc rc_random_options.seed} */
  public RandomOptions seed(long value) {
    settings.add(options -> options.setSeed(value));
    return this;
  }

  /**
   * Draws from the normal distribution with this mean and standard deviation.
   */
  public RandomOptions normal(double mean, double deviation) {
    settings.add(options -> {
      options.setDistribution(Native.RANDOM_NORMAL);
      options.setMean((float) mean);
      options.setDeviation((float) deviation);
    });
    return this;
  }

  /** Draws uniformly, from `low` to below `high`. */
  public RandomOptions uniform(double low, double high) {
    settings.add(options -> {
      options.setDistribution(Native.RANDOM_UNIFORM);
      options.setLow((float) low);
      options.setHigh((float) high);
    });
    return this;
  }

  random_options make() {
    return settings.make();
  }
}
