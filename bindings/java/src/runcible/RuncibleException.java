package runcible;

import java.util.Optional;

/**
 * What the library reports; a class within this one for each status. The
 * message names the values concerned.
 */
public class RuncibleException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private transient Report report;

  RuncibleException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** The number of the status. */
  public final int status() {
    return status;
  }

  /** What had been done when a generation failed. */
  public final Optional<Report> report() {
    return Optional.ofNullable(report);
  }

  final RuncibleException with(Report end) {
    report = end;
    return this;
  }

  /** Called by the wrapper; a status that is not known has no class. */
  static RuncibleException ofStatus(int status, byte[] text) {
    return of(status, Text.decode(text));
  }

  static RuncibleException of(int status, String message) {
    return switch (status) {
      case Native.E_INVALID_ARGUMENT -> new InvalidArgument(message);
      case Native.E_OUT_OF_MEMORY -> new OutOfMemory(message);
      case Native.E_NOT_FOUND -> new NotFound(message);
      case Native.E_IO -> new Io(message);
      case Native.E_FORMAT -> new Format(message);
      case Native.E_UNSUPPORTED -> new Unsupported(message);
      case Native.E_BACKEND_UNAVAILABLE -> new BackendUnavailable(message);
      case Native.E_DEVICE -> new Device(message);
      case Native.E_DEVICE_LOST -> new DeviceLost(message);
      case Native.E_DEVICE_MEMORY -> new DeviceMemory(message);
      case Native.E_TIMEOUT -> new Timeout(message);
      case Native.E_CANCELLED -> new Cancelled(message);
      case Native.E_DEADLINE -> new Deadline(message);
      case Native.E_CONTEXT_FULL -> new ContextFull(message);
      case Native.E_BUSY -> new Busy(message);
      case Native.E_QUOTA -> new Quota(message);
      case Native.E_CLOSED -> new Closed(message);
      case Native.E_ABI -> new Abi(message);
      case Native.E_INTERNAL -> new Internal(message);
      default -> new RuncibleException(status, message);
    };
  }

  /** {@rc RC_E_INVALID_ARGUMENT} */
  public static final class InvalidArgument extends RuncibleException {
    private static final long serialVersionUID = 1;

    InvalidArgument(String message) {
      super(Native.E_INVALID_ARGUMENT, message);
    }
  }

  /** {@rc RC_E_OUT_OF_MEMORY} */
  public static final class OutOfMemory extends RuncibleException {
    private static final long serialVersionUID = 1;

    OutOfMemory(String message) {
      super(Native.E_OUT_OF_MEMORY, message);
    }
  }

  /** {@rc RC_E_NOT_FOUND} */
  public static final class NotFound extends RuncibleException {
    private static final long serialVersionUID = 1;

    NotFound(String message) {
      super(Native.E_NOT_FOUND, message);
    }
  }

  /** {@rc RC_E_IO} */
  public static final class Io extends RuncibleException {
    private static final long serialVersionUID = 1;

    Io(String message) {
      super(Native.E_IO, message);
    }
  }

  /** {@rc RC_E_FORMAT} */
  public static final class Format extends RuncibleException {
    private static final long serialVersionUID = 1;

    Format(String message) {
      super(Native.E_FORMAT, message);
    }
  }

  /** {@rc RC_E_UNSUPPORTED} */
  public static final class Unsupported extends RuncibleException {
    private static final long serialVersionUID = 1;

    Unsupported(String message) {
      super(Native.E_UNSUPPORTED, message);
    }
  }

  /** {@rc RC_E_BACKEND_UNAVAILABLE} */
  public static final class BackendUnavailable extends RuncibleException {
    private static final long serialVersionUID = 1;

    BackendUnavailable(String message) {
      super(Native.E_BACKEND_UNAVAILABLE, message);
    }
  }

  /** {@rc RC_E_DEVICE} */
  public static class Device extends RuncibleException {
    private static final long serialVersionUID = 1;

    Device(String message) {
      this(Native.E_DEVICE, message);
    }

    private Device(int status, String message) {
      super(status, message);
    }
  }

  /** {@rc RC_E_DEVICE_LOST} */
  public static final class DeviceLost extends Device {
    private static final long serialVersionUID = 1;

    DeviceLost(String message) {
      super(Native.E_DEVICE_LOST, message);
    }
  }

  /** {@rc RC_E_DEVICE_MEMORY} */
  public static final class DeviceMemory extends RuncibleException {
    private static final long serialVersionUID = 1;

    DeviceMemory(String message) {
      super(Native.E_DEVICE_MEMORY, message);
    }
  }

  /** {@rc RC_E_TIMEOUT} */
  public static final class Timeout extends RuncibleException {
    private static final long serialVersionUID = 1;

    Timeout(String message) {
      super(Native.E_TIMEOUT, message);
    }
  }

  /** {@rc RC_E_CANCELLED} */
  public static final class Cancelled extends RuncibleException {
    private static final long serialVersionUID = 1;

    Cancelled(String message) {
      super(Native.E_CANCELLED, message);
    }
  }

  /** {@rc RC_E_DEADLINE} */
  public static final class Deadline extends RuncibleException {
    private static final long serialVersionUID = 1;

    Deadline(String message) {
      super(Native.E_DEADLINE, message);
    }
  }

  /** {@rc RC_E_CONTEXT_FULL} */
  public static final class ContextFull extends RuncibleException {
    private static final long serialVersionUID = 1;

    ContextFull(String message) {
      super(Native.E_CONTEXT_FULL, message);
    }
  }

  /** {@rc RC_E_BUSY} */
  public static final class Busy extends RuncibleException {
    private static final long serialVersionUID = 1;

    Busy(String message) {
      super(Native.E_BUSY, message);
    }
  }

  /** {@rc RC_E_QUOTA} */
  public static final class Quota extends RuncibleException {
    private static final long serialVersionUID = 1;

    Quota(String message) {
      super(Native.E_QUOTA, message);
    }
  }

  /** {@rc RC_E_CLOSED} */
  public static final class Closed extends RuncibleException {
    private static final long serialVersionUID = 1;

    Closed(String message) {
      super(Native.E_CLOSED, message);
    }
  }

  /** {@rc RC_E_ABI} */
  public static final class Abi extends RuncibleException {
    private static final long serialVersionUID = 1;

    Abi(String message) {
      super(Native.E_ABI, message);
    }
  }

  /** {@rc RC_E_INTERNAL} */
  public static final class Internal extends RuncibleException {
    private static final long serialVersionUID = 1;

    Internal(String message) {
      super(Native.E_INTERNAL, message);
    }
  }
}
