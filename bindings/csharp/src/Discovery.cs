using System.Collections.Generic;

namespace Runcible {
  /// <summary>The devices and unavailable backends of this machine.</summary>
  public sealed class Discovery {
    internal Discovery(IReadOnlyList<DeviceReport> devices, string automatic) {
      Devices = devices;
      Automatic = automatic;
    }

    /// <summary>The devices, in order of preference within a backend.</summary>
    public IReadOnlyList<DeviceReport> Devices { get; }

    /// <summary>The device that "auto" would choose, such as "cpu:0"; "" if
    /// there is none.</summary>
    public string Automatic { get; }
  }
}
