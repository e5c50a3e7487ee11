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

  /** {@rc RC_E_INVALID_ARGUMENT} */
  final class InvalidArgument extends IllegalArgumentException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    InvalidArgument(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_INVALID_ARGUMENT;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_OUT_OF_MEMORY} */
  final class OutOfMemory extends RuntimeException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    OutOfMemory(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_OUT_OF_MEMORY;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_NOT_FOUND} */
  final class NotFound extends UncheckedIOException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    NotFound(String message, Report report) {
      super(message, new FileNotFoundException(message));
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_NOT_FOUND;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_IO} */
  final class Io extends UncheckedIOException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Io(String message, Report report) {
      super(message, new IOException(message));
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_IO;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_FORMAT} */
  final class Format extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Format(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_FORMAT;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_UNSUPPORTED} */
  final class Unsupported extends UnsupportedOperationException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Unsupported(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_UNSUPPORTED;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_BACKEND_UNAVAILABLE} */
  final class BackendUnavailable extends RuntimeException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    BackendUnavailable(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_BACKEND_UNAVAILABLE;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_DEVICE} */
  class Device extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Device(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_DEVICE;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_DEVICE_LOST} */
  final class DeviceLost extends Device {
    private static final long serialVersionUID = 1;

    DeviceLost(String message, Report report) {
      super(message, report);
    }

    @Override
    public int status() {
      return Native.E_DEVICE_LOST;
    }
  }

  /** {@rc RC_E_DEVICE_MEMORY} */
  final class DeviceMemory extends RuntimeException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    DeviceMemory(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_DEVICE_MEMORY;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_TIMEOUT} */
  final class Timeout extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Timeout(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_TIMEOUT;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_CANCELLED} */
  final class Cancelled extends CancellationException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Cancelled(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_CANCELLED;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_DEADLINE} */
  final class Deadline extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Deadline(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_DEADLINE;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_CONTEXT_FULL} */
  final class ContextFull extends IllegalStateException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    ContextFull(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_CONTEXT_FULL;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_BUSY} */
  final class Busy extends IllegalStateException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Busy(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_BUSY;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_QUOTA} */
  final class Quota extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Quota(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_QUOTA;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_CLOSED} */
  final class Closed extends IllegalStateException
      implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Closed(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_CLOSED;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_ABI} */
  final class Abi extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Abi(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_ABI;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
    }
  }

  /** {@rc RC_E_INTERNAL} */
  final class Internal extends RuntimeException implements RuncibleException {
    private static final long serialVersionUID = 1;
    private final transient Report report;

    Internal(String message, Report report) {
      super(message);
      this.report = report;
    }

    @Override
    public int status() {
      return Native.E_INTERNAL;
    }

    @Override
    public Optional<Report> report() {
      return Optional.ofNullable(report);
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
