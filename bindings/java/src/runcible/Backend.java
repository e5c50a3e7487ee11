package runcible;

import java.util.ArrayList;
import java.util.List;

/** {@rc rc_backend} */
public final class Backend extends Handle {
  final backend handle;

  private Backend(backend handle) {
    super(handle);
    this.handle = handle;
  }

  /** Opens what the environment variable RUNCIBLE_BACKEND or "auto" chooses. */
  public static Backend open() {
    return open("");
  }

  /** {@rc rc_backend_open} */
  public static Backend open(String spec) {
    return open(spec, new BackendOptions());
  }

  /** {@rc rc_backend_open} */
  public static Backend open(String spec, BackendOptions options) {
    byte[] name = Text.name(spec);
    try (backend_options made = options.make()) {
      return new Backend(new backend((Long) Native.backend_open(name, made)));
    }
  }

  /** {@rc rc_discover} */
  public static Discovery discover() {
    device_list list = new device_list((Long) Native.discover());
    try {
      List<DeviceReport> devices = new ArrayList<>();
      for (long i = 0; i < Native.device_list_count(list); ++i) {
        try (device_report report = new device_report()) {
          Native.device_list_get(list, i, report);
          devices.add(DeviceReport.of(report));
        }
      }
      return new Discovery(
          List.copyOf(devices),
          Text.decode(Native.device_list_automatic(list)));
    } finally {
      list.close();
    }
  }

  // :api: methods rc_backend
}
