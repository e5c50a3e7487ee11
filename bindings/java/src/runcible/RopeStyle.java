package runcible;

/** {@rc rc_rope_style} */
public enum RopeStyle {
  /** 2i with 2i + 1. */
  ADJACENT(Native.ROPE_ADJACENT),
  /** i with i + pairs. */
  HALVES(Native.ROPE_HALVES);

  private final int number;

  RopeStyle(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
