using System;
using System.Collections.Generic;
using Runcible.Native;

namespace Runcible {
  /// <summary>An error of the library. Each status has an exception class,
  /// which is also the exception of System of the same meaning:
  /// ArgumentException, FileNotFoundException, ..., or a plain Exception where
  /// there is none. This is an interface because the classes have different
  /// bases: catch (Exception error) when (error is IRuncibleException) catches
  /// them all. The message names the values concerned.</summary>
  public interface IRuncibleException {
    /// <summary>The number of the status.</summary>
    int Status { get; }

    /// <summary>The report of a generation that failed; else null.</summary>
    Report Report { get; }

    /// <summary>The time after which to try again; null if it is not
    /// known.</summary>
    TimeSpan? RetryAfter { get; }

    /// <summary>A description of the error.</summary>
    string Message { get; }
  }

  internal static class Errors {
    private static readonly
        Dictionary<int, Func<string, Report, TimeSpan?, Exception>> classes =
            new Dictionary<int, Func<string, Report, TimeSpan?, Exception>> {
              // :api: errors
            };

    /// Makes the exception of a status; the report is null without a
    /// generation.
    internal static Exception Of(
        int status, string message, Report report = null,
        TimeSpan? retryAfter = null) =>
        classes.TryGetValue(status, out var make)
            ? make(message, report, retryAfter)
            : new OtherException(status, message, report, retryAfter);
  }

  /// <summary>A status of a library that is newer than this
  /// assembly.</summary>
  public sealed class OtherException : Exception, IRuncibleException {
    internal OtherException(
        int status, string message, Report report, TimeSpan? retryAfter)
        : base(message) {
      Status = status;
      Report = report;
      RetryAfter = retryAfter;
    }

    /// <summary>The number of the status.</summary>
    public int Status { get; }

    /// <summary>The report of a generation that failed; else null.</summary>
    public Report Report { get; }

    /// <summary>The time after which to try again; null if it is not
    /// known.</summary>
    public TimeSpan? RetryAfter { get; }
  }
}
