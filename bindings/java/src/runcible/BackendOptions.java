package runcible;

import java.time.Duration;

/**
 * {@rc rc_backend_options}
 *
 * <p>The setters return the object itself.
 */
public final class BackendOptions {
  private final Settings<backend_options> settings =
      new Settings<>(backend_options::new);

  /** Makes options that are not set. */
  public BackendOptions() {}

  // :api: setters rc_backend_options

  /** {@rc rc_backend_options.tenant} */
  public BackendOptions tenant(Tenant value) {
    tenant handle = value == null ? null : value.handle;
    settings.add(options -> options.set_tenant(handle));
    return this;
  }

  backend_options make() {
    return settings.make();
  }
}
