package runcible;

/**
 * How {@link Tensor#attention} weighs.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself.
 */
public final class AttentionOptions {
  private final Settings<attention_options> settings =
      new Settings<>(attention_options::new);

  /** Nothing is set. */
  public AttentionOptions() {}

  /** {@rc rc_attention_options.scale} */
  public AttentionOptions scale(double value) {
    settings.add(options -> options.setScale((float) value));
    return this;
  }

  /** {@rc rc_attention_options.softcap} */
  public AttentionOptions softcap(double value) {
    settings.add(options -> options.setSoftcap((float) value));
    return this;
  }

  /** {@rc rc_attention_options.causal} */
  public AttentionOptions causal(boolean causal) {
    settings.add(options -> options.setCausal(causal ? 1 : 0));
    return this;
  }

  attention_options make() {
    return settings.make();
  }
}
