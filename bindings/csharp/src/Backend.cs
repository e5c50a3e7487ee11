using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
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
        : this(Open(spec, options ?? new BackendOptions(), null)) {
    }

    private static backend Open(
        string spec, BackendOptions options, Action<double> also) {
      byte[] name = Memory.Name(spec);
      var progress = new Progress(options.Progress + also);
      using (backend_options made = options.Make()) {
        if (options.Tenant != null) {
          made.set_tenant(options.Tenant.handle);
        }
        if (also != null || options.Progress != null) {
          made.set_progress(progress.Receiver);
        }
        try {
          native.backend_open(name, made, out var opened);
          return new backend(opened);
        } catch (CancelledException) {
          progress.Rethrow();
          throw;
        } finally {
          GC.KeepAlive(progress);
        }
      }
    }

    /// <summary>Opens in a separate thread. Cancelling ends the
    /// opening.</summary>
    public static Task<Backend> OpenAsync(
        string spec = "", BackendOptions options = null,
        CancellationToken cancel = default(CancellationToken)) =>
        Task.Factory.StartNew(
            () => new Backend(Open(
                spec, options ?? new BackendOptions(),
                fraction => cancel.ThrowIfCancellationRequested())),
            cancel, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    /// <summary>{@rc rc_backend_switch}</summary>
    public void Switch(string spec = "", BackendSwitchOptions options = null) {
      Switch(spec, options ?? new BackendSwitchOptions(), (Action<double>)null);
    }

    private void Switch(
        string spec, BackendSwitchOptions options, Action<double> also) {
      byte[] name = Memory.Name(spec);
      var progress = new Progress(options.Progress + also);
      using (backend_switch_options made = options.Make()) {
        if (also != null || options.Progress != null) {
          made.set_progress(progress.Receiver);
        }
        try {
          native.backend_switch(handle, name, made);
        } catch (CancelledException) {
          progress.Rethrow();
          throw;
        } finally {
          GC.KeepAlive(progress);
        }
      }
    }

    /// <summary>The same in a separate thread. Cancelling ends the switch, and
    /// the backend stays on its device.</summary>
    public Task SwitchAsync(
        string spec = "", BackendSwitchOptions options = null,
        CancellationToken cancel = default(CancellationToken)) =>
        Task.Factory.StartNew(
            () => Switch(
                spec, options ?? new BackendSwitchOptions(),
                fraction => cancel.ThrowIfCancellationRequested()),
            cancel, TaskCreationOptions.LongRunning, TaskScheduler.Default);

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

    /// <summary>The same in a separate thread.</summary>
    public static Task<Discovery> DiscoverAsync() =>
        Task.Factory.StartNew(
            Discover, CancellationToken.None, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);

    // :api: methods rc_backend
  }
}
