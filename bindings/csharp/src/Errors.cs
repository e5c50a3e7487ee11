using System;
using System.Collections.Generic;
using System.IO;
using Runcible.Native;

namespace Runcible {
  /// <summary>What the library reports: an exception of a class for each
  /// status. Each is also the exception of System of the same meaning,
  /// ArgumentException, FileNotFoundException, ..., or a plain Exception where
  /// there is none. That is why this is an interface: catch (Exception error)
  /// when (error is IRuncibleException) catches them all. The message names the
  /// values concerned.</summary>
  public interface IRuncibleException {
    /// <summary>The number of the status.</summary>
    int Status { get; }

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    Report Report { get; }

    /// <summary>What went wrong.</summary>
    string Message { get; }
  }

  internal static class Errors {
    private static readonly
        Dictionary<int, Func<string, Report, Exception>> classes =
            new Dictionary<int, Func<string, Report, Exception>> {
              [native.E_INVALID_ARGUMENT] =
                  (m, r) => new InvalidArgumentException(m, r),
              [native.E_OUT_OF_MEMORY] =
                  (m, r) => new HostMemoryException(m, r),
              [native.E_NOT_FOUND] = (m, r) => new NotFoundException(m, r),
              [native.E_IO] = (m, r) => new IoException(m, r),
              [native.E_FORMAT] = (m, r) => new FormatException(m, r),
              [native.E_UNSUPPORTED] = (m, r) => new UnsupportedException(m, r),
              [native.E_BACKEND_UNAVAILABLE] =
                  (m, r) => new BackendUnavailableException(m, r),
              [native.E_DEVICE] = (m, r) => new DeviceException(m, r),
              [native.E_DEVICE_LOST] = (m, r) => new DeviceLostException(m, r),
              [native.E_DEVICE_MEMORY] =
                  (m, r) => new DeviceMemoryException(m, r),
              [native.E_TIMEOUT] = (m, r) => new WaitTimeoutException(m, r),
              [native.E_CANCELLED] = (m, r) => new CancelledException(m, r),
              [native.E_DEADLINE] = (m, r) => new DeadlineException(m, r),
              [native.E_CONTEXT_FULL] =
                  (m, r) => new ContextFullException(m, r),
              [native.E_BUSY] = (m, r) => new BusyException(m, r),
              [native.E_QUOTA] = (m, r) => new QuotaException(m, r),
              [native.E_CLOSED] = (m, r) => new ClosedException(m, r),
              [native.E_ABI] = (m, r) => new AbiException(m, r),
              [native.E_INTERNAL] = (m, r) => new InternalException(m, r),
            };

    /// The exception of a status; the report is null but for a generation.
    internal static Exception Of(
        int status, string message, Report report = null) =>
        classes.TryGetValue(status, out var make)
            ? make(message, report)
            : new OtherException(status, message, report);
  }

  /// <summary>{@rc RC_E_INVALID_ARGUMENT}</summary>
  public sealed class InvalidArgumentException
      : ArgumentException, IRuncibleException {
    internal InvalidArgumentException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_INVALID_ARGUMENT;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_OUT_OF_MEMORY}</summary>
  public sealed class HostMemoryException
      : OutOfMemoryException, IRuncibleException {
    internal HostMemoryException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_OUT_OF_MEMORY;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_NOT_FOUND}</summary>
  public sealed class NotFoundException
      : FileNotFoundException, IRuncibleException {
    internal NotFoundException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_NOT_FOUND;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_IO}</summary>
  public sealed class IoException : IOException, IRuncibleException {
    internal IoException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_IO;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_FORMAT}</summary>
  public sealed class FormatException
      : System.FormatException, IRuncibleException {
    internal FormatException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_FORMAT;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_UNSUPPORTED}</summary>
  public sealed class UnsupportedException
      : NotSupportedException, IRuncibleException {
    internal UnsupportedException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_UNSUPPORTED;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_BACKEND_UNAVAILABLE}</summary>
  public sealed class BackendUnavailableException
      : Exception, IRuncibleException {
    internal BackendUnavailableException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_BACKEND_UNAVAILABLE;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_DEVICE}</summary>
  public class DeviceException : Exception, IRuncibleException {
    internal DeviceException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public virtual int Status => native.E_DEVICE;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_DEVICE_LOST}</summary>
  public sealed class DeviceLostException : DeviceException {
    internal DeviceLostException(string message, Report report = null)
        : base(message, report) {
    }

    /// <summary>The number of the status.</summary>
    public override int Status => native.E_DEVICE_LOST;
  }

  /// <summary>{@rc RC_E_DEVICE_MEMORY}</summary>
  public sealed class DeviceMemoryException
      : OutOfMemoryException, IRuncibleException {
    internal DeviceMemoryException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_DEVICE_MEMORY;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_TIMEOUT}</summary>
  public sealed class WaitTimeoutException
      : TimeoutException, IRuncibleException {
    internal WaitTimeoutException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_TIMEOUT;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_CANCELLED}</summary>
  public sealed class CancelledException : Exception, IRuncibleException {
    internal CancelledException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_CANCELLED;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_DEADLINE}</summary>
  public sealed class DeadlineException : TimeoutException, IRuncibleException {
    internal DeadlineException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_DEADLINE;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_CONTEXT_FULL}</summary>
  public sealed class ContextFullException
      : InvalidOperationException, IRuncibleException {
    internal ContextFullException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_CONTEXT_FULL;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_BUSY}</summary>
  public sealed class BusyException
      : InvalidOperationException, IRuncibleException {
    internal BusyException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_BUSY;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_QUOTA}</summary>
  public sealed class QuotaException : Exception, IRuncibleException {
    internal QuotaException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_QUOTA;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_CLOSED}</summary>
  public sealed class ClosedException
      : ObjectDisposedException, IRuncibleException {
    internal ClosedException(string message, Report report = null)
        : base((string)null, message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_CLOSED;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_ABI}</summary>
  public sealed class AbiException : Exception, IRuncibleException {
    internal AbiException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_ABI;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>{@rc RC_E_INTERNAL}</summary>
  public sealed class InternalException : Exception, IRuncibleException {
    internal InternalException(string message, Report report = null)
        : base(message) {
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status => native.E_INTERNAL;

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }

  /// <summary>A status of a library that is newer than this
  /// assembly.</summary>
  public sealed class OtherException : Exception, IRuncibleException {
    internal OtherException(int status, string message, Report report)
        : base(message) {
      Status = status;
      Report = report;
    }

    /// <summary>The number of the status.</summary>
    public int Status { get; }

    /// <summary>What had been done when a generation failed; else
    /// null.</summary>
    public Report Report { get; }
  }
}
