package runcible;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/**
 * An error of the library. Each status has an exception class within this
 * interface, which is also Java's own unchecked exception of the same meaning:
 * {@link IllegalArgumentException}, {@link UncheckedIOException}, ..., or a
 * plain {@link RuntimeException} where there is none. This is an interface
 * because the classes have different bases: catch RuntimeException and check
 * with {@code instanceof}. The message names the values concerned.
 */
public interface RuncibleException {
  /** The number of the status. */
  int status();

  /** Returns the report of a generation that failed. */
  Optional<Report> report();

  /** Returns the time after which to try again; empty if it is not known. */
  default Optional<Duration> retryAfter() {
    return Optional.empty();
  }

  /** Returns a description of the error. */
  String getMessage();

  // :api: errors

  /** {@rc RC_E_QUOTA} */
  final class Quota extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;
    private final Duration retryAfter;

    Quota(String message, Report report) {
      this(message, report, null);
    }

    Quota(String message, Report report, Duration retryAfter) {
      super(message);
      this.report = report;
      this.retryAfter = retryAfter;
    }

    @Override
    public int status() {
      return Native.E_QUOTA;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }

    @Override
    public Optional<Duration> retryAfter() {
      return Optional.ofNullable(retryAfter);
    }
  }

  /** A status of a library that is newer than this class. */
  final class Other extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final int status;
    private final transient Report report;

    Other(int status, String message, Report report) {
      super(message);
      this.status = status;
      this.report = report;
    }

    @Override
    public int status() {
      return status;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }
}
