package runcible;

import java.time.Duration;

/**
 * How to open a {@link Backend}.
 *
 * <p>What is not set has the default of the library. The setters give the
 * object itself.
 */
public final class BackendOptions {
  private final Settings<backend_options> settings =
      new Settings<>(backend_options::new);

  /** Nothing is set. */
  public BackendOptions() {}

  /** {@rc rc_backend_options.required_memory} */
  public BackendOptions requiredMemory(long bytes) {
    Limits.notNegative(bytes, "requiredMemory");
    settings.add(options -> options.setRequired_memory(bytes));
    return this;
  }

  /** {@rc rc_backend_options.memory_limit} */
  public BackendOptions memoryLimit(long bytes) {
    Limits.notNegative(bytes, "memoryLimit");
    settings.add(options -> options.setMemory_limit(bytes));
    return this;
  }

  /** {@rc rc_backend_options.threads} */
  public BackendOptions threads(int count) {
    settings.add(options -> options.setThreads(count));
    return this;
  }

  /** {@rc rc_backend_options.max_requests} */
  public BackendOptions maxRequests(int count) {
    settings.add(options -> options.setMax_requests(count));
    return this;
  }

  /** {@rc rc_backend_options.timeout_ms} */
  public BackendOptions timeout(Duration time) {
    long milliseconds = Limits.milliseconds(time, "timeout");
    settings.add(options -> options.setTimeout_ms(milliseconds));
    return this;
  }

  /** {@rc rc_backend_options.strict} */
  public BackendOptions strict(boolean strict) {
    settings.add(options -> options.setStrict(strict ? 1 : 0));
    return this;
  }

  /** {@rc rc_backend_options.profile} */
  public BackendOptions profile(boolean profile) {
    settings.add(options -> options.setProfile(profile ? 1 : 0));
    return this;
  }

  backend_options make() {
    return settings.make();
  }
}
