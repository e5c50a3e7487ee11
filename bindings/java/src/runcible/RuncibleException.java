package runcible;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/**
 * What the library reports: an exception of a class within this interface for
 * each status. Each is also Java's own unchecked exception of the same meaning,
 * {@link IllegalArgumentException}, {@link UncheckedIOException}, ..., or a plain
 * {@link RuntimeException} where there is none. That is why this is an interface:
 * what it stands for is caught as RuntimeException and told by
 * {@code instanceof}. The message names the values concerned.
 */
public interface RuncibleException {
  /** The number of the status. */
  int status();

  /** What had been done when a generation failed. */
  Optional<Report> report();

  /** What went wrong. */
  String getMessage();

  // :api: errors

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
