package runcible;

/** What happens when the context of a session is full. */
public enum WhenFull {
  /** {@rc RC_FULL_ERROR} */
  ERROR(Native.FULL_ERROR),
  /** {@rc RC_FULL_SHIFT} */
  SHIFT(Native.FULL_SHIFT);

  private final int number;

  WhenFull(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
