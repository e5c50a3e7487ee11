using System.Collections.Generic;
using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc rc_backend}</summary>
  public sealed class Backend : Handle {
    internal readonly backend handle;

    private Backend(backend handle) : base(handle) {
      this.handle = handle;
    }

    /// <summary>{@rc rc_backend_open}</summary>
    public Backend(string spec = "", BackendOptions options = null)
        : this(Open(spec, options ?? new BackendOptions())) {
    }

    private static backend Open(string spec, BackendOptions options) {
      byte[] name = Memory.Name(spec);
      using (backend_options made = options.Make()) {
        native.backend_open(name, made, out var opened);
        return new backend(opened);
      }
    }

    /// <summary>{@rc rc_discover}</summary>
    public static Discovery Discover() {
      native.discover(out var found);
      using (var list = new device_list(found)) {
        var devices = new List<DeviceReport>();
        for (ulong i = 0; i < native.device_list_count(list); ++i) {
          using (var report = new device_report()) {
            native.device_list_get(list, i, report);
            devices.Add(new DeviceReport(report));
          }
        }
        return new Discovery(devices, native.device_list_automatic(list));
      }
    }

    // :api: methods rc_backend
  }
}
