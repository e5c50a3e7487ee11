package runcible;

/** {@rc rc_device_kind} */
public enum DeviceKind {
  OTHER,
  CPU,
  GPU_DISCRETE,
  GPU_INTEGRATED,
  ACCELERATOR,
  /** A GPU interface that runs on the CPU (PoCL, lavapipe). */
  SOFTWARE;

  static DeviceKind of(int number) {
    return switch (number) {
      case Native.DEVICE_CPU -> CPU;
      case Native.DEVICE_GPU_DISCRETE -> GPU_DISCRETE;
      case Native.DEVICE_GPU_INTEGRATED -> GPU_INTEGRATED;
      case Native.DEVICE_ACCELERATOR -> ACCELERATOR;
      case Native.DEVICE_SOFTWARE -> SOFTWARE;
      default -> OTHER;
    };
  }
}
