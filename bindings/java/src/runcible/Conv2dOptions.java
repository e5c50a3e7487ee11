package runcible;

/**
 * How {@link Tensor#conv2d} moves its window.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself.
 */
public final class Conv2dOptions {
  private final Settings<conv2d_options> settings =
      new Settings<>(conv2d_options::new);

  /** Nothing is set. */
  public Conv2dOptions() {}

  /** {@rc rc_conv2d_options.stride} */
  public Conv2dOptions stride(int down, int across) {
    settings.add(options -> options.set_stride(down, across));
    return this;
  }

  /** {@rc rc_conv2d_options.padding} */
  public Conv2dOptions padding(int down, int across) {
    settings.add(options -> options.set_padding(down, across));
    return this;
  }

  /** {@rc rc_conv2d_options.dilation} */
  public Conv2dOptions dilation(int down, int across) {
    settings.add(options -> options.set_dilation(down, across));
    return this;
  }

  /** {@rc rc_conv2d_options.groups} */
  public Conv2dOptions groups(int count) {
    settings.add(options -> options.setGroups(count));
    return this;
  }

  conv2d_options make() {
    return settings.make();
  }
}
