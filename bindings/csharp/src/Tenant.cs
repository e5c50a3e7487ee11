using System;
using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc rc_tenant}</summary>
  public sealed class Tenant : Handle {
    internal readonly tenant handle;

    private Tenant(tenant handle) : base(handle) {
      this.handle = handle;
    }

    /// <summary>{@rc rc_tenant_create}</summary>
    public Tenant(TenantOptions options = null)
        : this(Create(options ?? new TenantOptions())) {
    }

    private static tenant Create(TenantOptions options) {
      using (tenant_options made = options.Make()) {
        native.tenant_create(made, out var created);
        return new tenant(created);
      }
    }

    /// <summary>{@rc rc_tenant_change}</summary>
    public void Change(TenantOptions options) {
      using (tenant_options made = options.Make()) {
        native.tenant_change(handle, made);
      }
    }

    // :api: methods rc_tenant

    /// <summary>{@rc RC_METRICS_JSON}</summary>
    public string Metrics() => Metrics(native.METRICS_JSON);

    /// <summary>{@rc RC_METRICS_OPENMETRICS}</summary>
    public string OpenMetrics() => Metrics(native.METRICS_OPENMETRICS);

    private string Metrics(int format) {
      native.tenant_metrics(handle, format, out IntPtr text);
      return Memory.TakeText(text);
    }

    /// <summary>Returns a snapshot of all tenants of the process that still
    /// exist, in the form of Metrics(). Tenants with the same name are added
    /// up.</summary>
    public static string AllMetrics() => AllMetrics(native.METRICS_JSON);

    /// <summary>Returns the same numbers in the text format of
    /// OpenMetrics.</summary>
    public static string AllOpenMetrics() =>
        AllMetrics(native.METRICS_OPENMETRICS);

    private static string AllMetrics(int format) {
      native.all_tenant_metrics(format, out IntPtr text);
      return Memory.TakeText(text);
    }

    /// <summary>{@rc rc_tenant_bill}</summary>
    /// <remarks>Both arguments are JSON, or objects: dictionaries, anonymous
    /// objects, values of a JSON library.</remarks>
    public string Bill(object prices, object since = null) {
      byte[] list = Memory.Name(Json.Text(prices, nameof(prices)));
      byte[] before =
          since == null ? null : Memory.Name(Json.Text(since, nameof(since)));
      native.tenant_bill(handle, list, before, out IntPtr bill);
      return Memory.TakeText(bill);
    }
  }
}
