using System.Collections.Generic;

namespace Runcible {
  /// <summary>The devices and unavailable backends of this machine.</summary>
  public sealed class Discovery {
    internal Discovery(IReadOnlyList<DeviceReport> devices, string automatic) {
      Devices = devices;
      Automatic = automatic;
    }

    /// <summary>In order of preference within a backend.</summary>
    public IReadOnlyList<DeviceReport> Devices { get; }

    /// <summary>What "auto" would choose, "cpu:0"; "" if there is nothing to
    /// choose.</summary>
    public string Automatic { get; }
  }
}
