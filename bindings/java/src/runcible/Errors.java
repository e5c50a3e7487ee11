package runcible;

import static java.util.Map.entry;

import java.util.Map;
import java.util.function.BiFunction;

/** Makes the exceptions of statuses. */
final class Errors {
  private static final
      Map<Integer, BiFunction<String, Report, RuntimeException>> CLASSES =
          Map.ofEntries(
              entry(
                  Native.E_INVALID_ARGUMENT,
                  RuncibleException.InvalidArgument::new),
              entry(
                  Native.E_OUT_OF_MEMORY,
                  RuncibleException.OutOfMemory::new),
              entry(Native.E_NOT_FOUND, RuncibleException.NotFound::new),
              entry(Native.E_IO, RuncibleException.Io::new),
              entry(Native.E_FORMAT, RuncibleException.Format::new),
              entry(Native.E_UNSUPPORTED, RuncibleException.Unsupported::new),
              entry(
                  Native.E_BACKEND_UNAVAILABLE,
                  RuncibleException.BackendUnavailable::new),
              entry(Native.E_DEVICE, RuncibleException.Device::new),
              entry(Native.E_DEVICE_LOST, RuncibleException.DeviceLost::new),
              entry(
                  Native.E_DEVICE_MEMORY,
                  RuncibleException.DeviceMemory::new),
              entry(Native.E_TIMEOUT, RuncibleException.Timeout::new),
              entry(Native.E_CANCELLED, RuncibleException.Cancelled::new),
              entry(Native.E_DEADLINE, RuncibleException.Deadline::new),
              entry(Native.E_CONTEXT_FULL, RuncibleException.ContextFull::new),
              entry(Native.E_BUSY, RuncibleException.Busy::new),
              entry(Native.E_QUOTA, RuncibleException.Quota::new),
              entry(Native.E_CLOSED, RuncibleException.Closed::new),
              entry(Native.E_ABI, RuncibleException.Abi::new),
              entry(Native.E_INTERNAL, RuncibleException.Internal::new));

  private Errors() {}

  /** Called by the wrapper. */
  static RuntimeException ofStatus(int status, byte[] text) {
    return of(status, Text.decode(text), null);
  }

  /** The exception of a status; the report is null but for a generation. */
  static RuntimeException of(int status, String message, Report report) {
    var known = CLASSES.get(status);
    return known == null
        ? new RuncibleException.Other(status, message, report)
        : known.apply(message, report);
  }
}
