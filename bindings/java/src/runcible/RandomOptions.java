package runcible;

/**
 * What {@link Tensor#random} makes; standard normal if nothing is set.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself.
 */
public final class RandomOptions {
  private final Settings<random_options> settings =
      new Settings<>(random_options::new);

  /** Nothing is set. */
  public RandomOptions() {}

  /** {@rc rc_random_options.seed} */
  public RandomOptions seed(long value) {
    settings.add(options -> options.setSeed(value));
    return this;
  }

  /** Normal with this mean and standard deviation. */
  public RandomOptions normal(double mean, double deviation) {
    settings.add(options -> {
      options.setDistribution(Native.RANDOM_NORMAL);
      options.setMean((float) mean);
      options.setDeviation((float) deviation);
    });
    return this;
  }

  /** At least `low`, below `high`, all alike. */
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
