package runcible;

/**
 * How {@link Tensor#rope} turns.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself.
 */
public final class RopeOptions {
  private final Settings<rope_options> settings =
      new Settings<>(rope_options::new);

  /** Nothing is set. */
  public RopeOptions() {}

  /** How the elements of a head are paired. */
  public RopeOptions style(RopeStyle style) {
    int number = style.number();
    settings.add(options -> options.setStyle(number));
    return this;
  }

  /** {@rc rc_rope_options.dimensions} */
  public RopeOptions dimensions(int count) {
    settings.add(options -> options.setDimensions(count));
    return this;
  }

  /** {@rc rc_rope_options.theta} */
  public RopeOptions theta(double value) {
    settings.add(options -> options.setTheta((float) value));
    return this;
  }

  /** {@rc rc_rope_options.scale} */
  public RopeOptions scale(double value) {
    settings.add(options -> options.setScale((float) value));
    return this;
  }

  rope_options make() {
    return settings.make();
  }
}
