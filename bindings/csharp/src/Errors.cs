using System;
using Runcible.Native;

namespace Runcible {
  /// <summary>What the library reports; a class for each status. The message
  /// names the values concerned.</summary>
  public class RuncibleException : Exception {
    internal RuncibleException(int status, string message) : base(message) {
      Status = status;
    }

    /// <summary>The number of the status.</summary>
    public int Status { get; }

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; internal set; }

    /// A status that is not known has no class.
    internal static RuncibleException Of(int status, string message) {
      switch (status) {
        case native.E_INVALID_ARGUMENT:
          return new InvalidArgumentException(message);
        case native.E_OUT_OF_MEMORY:
          return new HostMemoryException(message);
        case native.E_NOT_FOUND:
          return new NotFoundException(message);
        case native.E_IO:
          return new IoException(message);
        case native.E_FORMAT:
          return new FormatException(message);
        case native.E_UNSUPPORTED:
          return new UnsupportedException(message);
        case native.E_BACKEND_UNAVAILABLE:
          return new BackendUnavailableException(message);
        case native.E_DEVICE:
          return new DeviceException(message);
        case native.E_DEVICE_LOST:
          return new DeviceLostException(message);
        case native.E_DEVICE_MEMORY:
          return new DeviceMemoryException(message);
        case native.E_TIMEOUT:
          return new WaitTimeoutException(message);
        case native.E_CANCELLED:
          return new CancelledException(message);
        case native.E_DEADLINE:
          return new DeadlineException(message);
        case native.E_CONTEXT_FULL:
          return new ContextFullException(message);
        case native.E_BUSY:
          return new BusyException(message);
        case native.E_QUOTA:
          return new QuotaException(message);
        case native.E_CLOSED:
          return new ClosedException(message);
        case native.E_ABI:
          return new AbiException(message);
        case native.E_INTERNAL:
          return new InternalException(message);
        default:
          return new RuncibleException(status, message);
      }
    }
  }

  /// <summary>{@rc RC_E_INVALID_ARGUMENT}</summary>
  public sealed class InvalidArgumentException : RuncibleException {
    internal InvalidArgumentException(string message)
        : base(native.E_INVALID_ARGUMENT, message) {
    }
  }

  /// <summary>{@rc RC_E_OUT_OF_MEMORY}</summary>
  public sealed class HostMemoryException : RuncibleException {
    internal HostMemoryException(string message)
        : base(native.E_OUT_OF_MEMORY, message) {
    }
  }

  /// <summary>{@rc RC_E_NOT_FOUND}</summary>
  public sealed class NotFoundException : RuncibleException {
    internal NotFoundException(string message)
        : base(native.E_NOT_FOUND, message) {
    }
  }

  /// <summary>{@rc RC_E_IO}</summary>
  public sealed class IoException : RuncibleException {
    internal IoException(string message) : base(native.E_IO, message) {
    }
  }

  /// <summary>{@rc RC_E_FORMAT}</summary>
  public sealed class FormatException : RuncibleException {
    internal FormatException(string message) : base(native.E_FORMAT, message) {
    }
  }

  /// <summary>{@rc RC_E_UNSUPPORTED}</summary>
  public sealed class UnsupportedException : RuncibleException {
    internal UnsupportedException(string message)
        : base(native.E_UNSUPPORTED, message) {
    }
  }

  /// <summary>{@rc RC_E_BACKEND_UNAVAILABLE}</summary>
  public sealed class BackendUnavailableException : RuncibleException {
    internal BackendUnavailableException(string message)
        : base(native.E_BACKEND_UNAVAILABLE, message) {
    }
  }

  /// <summary>{@rc RC_E_DEVICE}</summary>
  public class DeviceException : RuncibleException {
    internal DeviceException(string message) : base(native.E_DEVICE, message) {
    }

    internal DeviceException(int status, string message)
        : base(status, message) {
    }
  }

  /// <summary>{@rc RC_E_DEVICE_LOST}</summary>
  public sealed class DeviceLostException : DeviceException {
    internal DeviceLostException(string message)
        : base(native.E_DEVICE_LOST, message) {
    }
  }

  /// <summary>{@rc RC_E_DEVICE_MEMORY}</summary>
  public sealed class DeviceMemoryException : RuncibleException {
    internal DeviceMemoryException(string message)
        : base(native.E_DEVICE_MEMORY, message) {
    }
  }

  /// <summary>{@rc RC_E_TIMEOUT}</summary>
  public sealed class WaitTimeoutException : RuncibleException {
    internal WaitTimeoutException(string message)
        : base(native.E_TIMEOUT, message) {
    }
  }

  /// <summary>{@rc RC_E_CANCELLED}</summary>
  public sealed class CancelledException : RuncibleException {
    internal CancelledException(string message)
        : base(native.E_CANCELLED, message) {
    }
  }

  /// <summary>{@rc RC_E_DEADLINE}</summary>
  public sealed class DeadlineException : RuncibleException {
    internal DeadlineException(string message)
        : base(native.E_DEADLINE, message) {
    }
  }

  /// <summary>{@rc RC_E_CONTEXT_FULL}</summary>
  public sealed class ContextFullException : RuncibleException {
    internal ContextFullException(string message)
        : base(native.E_CONTEXT_FULL, message) {
    }
  }

  /// <summary>{@rc RC_E_BUSY}</summary>
  public sealed class BusyException : RuncibleException {
    internal BusyException(string message) : base(native.E_BUSY, message) {
    }
  }

  /// <summary>{@rc RC_E_QUOTA}</summary>
  public sealed class QuotaException : RuncibleException {
    internal QuotaException(string message) : base(native.E_QUOTA, message) {
    }
  }

  /// <summary>{@rc RC_E_CLOSED}</summary>
  public sealed class ClosedException : RuncibleException {
    internal ClosedException(string message) : base(native.E_CLOSED, message) {
    }
  }

  /// <summary>{@rc RC_E_ABI}</summary>
  public sealed class AbiException : RuncibleException {
    internal AbiException(string message) : base(native.E_ABI, message) {
    }
  }

  /// <summary>{@rc RC_E_INTERNAL}</summary>
  public sealed class InternalException : RuncibleException {
    internal InternalException(string message)
        : base(native.E_INTERNAL, message) {
    }
  }
}
