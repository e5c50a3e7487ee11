package runcible;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleConsumer;

/** {@rc rc_backend} */
public final class Backend extends Handle {
  final backend handle;

  private Backend(backend handle) {
    super(handle);
    this.handle = handle;
  }

  /**
   * Opens the device that the environment variable RUNCIBLE_BACKEND, else
   * "auto", chooses.
   */
  public static Backend open() {
    return open("");
  }

  /** {@rc rc_backend_open} */
  public static Backend open(String spec) {
    return open(spec, new BackendOptions());
  }

  /** {@rc rc_backend_open} */
  public static Backend open(String spec, BackendOptions options) {
    return open(spec, options, null);
  }

  /**
   * The same with a function that receives the fraction done, 0 to 1, on the
   * thread that opens; null for none. An exception that it throws ends the
   * opening and is thrown by it.
   */
  public static Backend open(
      String spec, BackendOptions options, DoubleConsumer progress) {
    byte[] name = Text.name(spec);
    try (backend_options made = options.make()) {
      return open(name, made, progress);
    }
  }

  private static Backend open(
      byte[] name, backend_options made, DoubleConsumer progress) {
    made.set_progress(progress);
    try {
      return new Backend(new backend((Long) Native.backend_open(name, made)));
    } finally {
      made.set_progress(null);
    }
  }

  /** The same with the default options and without progress. */
  public static CompletableFuture<Backend> openAsync(String spec) {
    return openAsync(spec, new BackendOptions(), null);
  }

  /**
   * Opens in a separate thread. Cancelling the future cancels the opening.
   *
   * @see #open(String, BackendOptions, DoubleConsumer)
   */
  public static CompletableFuture<Backend> openAsync(
      String spec, BackendOptions options, DoubleConsumer progress) {
    byte[] name = Text.name(spec);
    backend_options made = options.make();
    return Later.start("runcible open", future -> {
      try (made) {
        return open(name, made, fraction -> {
          if (future.isDone()) {
            throw new CancellationException("the opening was cancelled");
          }
          if (progress != null) {
            progress.accept(fraction);
          }
        });
      }
    }, Backend::close);
  }

  /** {@rc rc_backend_switch} */
  public void switchTo(String spec) {
    switchTo(spec, new BackendSwitchOptions(), null);
  }

  /**
   * The same with a function that receives the fraction done, 0 to 1, on the
   * thread that switches; null for none. An exception that it throws ends the
   * switch and is thrown by it; the backend then stays on its device.
   */
  public void switchTo(
      String spec, BackendSwitchOptions options, DoubleConsumer progress) {
    byte[] name = Text.name(spec);
    try (backend_switch_options made = options.make()) {
      switchTo(name, made, progress);
    }
  }

  private void switchTo(
      byte[] name, backend_switch_options made, DoubleConsumer progress) {
    made.set_progress(progress);
    try {
      Native.backend_switch(handle, name, made);
    } finally {
      made.set_progress(null);
    }
  }

  /** The same with the default options and without progress. */
  public CompletableFuture<Void> switchToAsync(String spec) {
    return switchToAsync(spec, new BackendSwitchOptions(), null);
  }

  /**
   * Switches in a separate thread. Cancelling the future ends the switch, and
   * the backend stays on its device.
   *
   * @see #switchTo(String, BackendSwitchOptions, DoubleConsumer)
   */
  public CompletableFuture<Void> switchToAsync(
      String spec, BackendSwitchOptions options, DoubleConsumer progress) {
    byte[] name = Text.name(spec);
    backend_switch_options made = options.make();
    return Later.start("runcible switch", future -> {
      try (made) {
        switchTo(name, made, fraction -> {
          if (future.isDone()) {
            throw new CancellationException("the switch was cancelled");
          }
          if (progress != null) {
            progress.accept(fraction);
          }
        });
        return null;
      }
    }, nothing -> {});
  }

  /** The same as discover in a separate thread. */
  public static CompletableFuture<Discovery> discoverAsync() {
    return Later.start("runcible discover", future -> discover(), made -> {});
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
