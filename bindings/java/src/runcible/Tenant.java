package runcible;

/** {@rc rc_tenant} */
public final class Tenant extends Handle {
  final tenant handle;

  private Tenant(tenant handle) {
    super(handle);
    this.handle = handle;
  }

  /** {@rc rc_tenant_create} */
  public static Tenant create(TenantOptions options) {
    try (tenant_options made = options.make()) {
      return new Tenant(new tenant((Long) Native.tenant_create(made)));
    }
  }

  /** {@rc rc_tenant_change} */
  public void change(TenantOptions options) {
    try (tenant_options made = options.make()) {
      Native.tenant_change(handle, made);
    }
  }

  // :api: methods rc_tenant

  /** {@rc RC_METRICS_JSON} */
  public String metrics() {
    return decode(Native.tenant_metrics(handle, Native.METRICS_JSON));
  }

  /** {@rc RC_METRICS_OPENMETRICS} */
  public String openMetrics() {
    return decode(Native.tenant_metrics(handle, Native.METRICS_OPENMETRICS));
  }

  /**
   * Returns a snapshot of all tenants of the process that still exist, in the
   * form of {@link #metrics()}. Tenants with the same name are added up.
   */
  public static String allMetrics() {
    return decode(Native.all_tenant_metrics(Native.METRICS_JSON));
  }

  /** Returns the same numbers in the text format of OpenMetrics. */
  public static String allOpenMetrics() {
    return decode(Native.all_tenant_metrics(Native.METRICS_OPENMETRICS));
  }

  /** The same for all use since the tenant was created. */
  public String bill(Object prices) {
    return bill(prices, null);
  }

  /**
   * {@rc rc_tenant_bill}
   *
   * <p>Both arguments are JSON, or objects such as Maps.
   */
  public String bill(Object prices, Object since) {
    byte[] list = Text.name(Json.text(prices, "prices"));
    byte[] before =
        since == null ? null : Text.name(Json.text(since, "since"));
    return decode(Native.tenant_bill(handle, list, before));
  }

  private static String decode(Object text) {
    return Text.decode((byte[]) text);
  }
}
