package runcible;

/** Why a generation ended. */
public enum EndReason {
  /** The model's end token or a stop token. */
  STOP(Native.END_STOP),
  /** {@link GenerateOptions#maxTokens} were generated. */
  LENGTH(Native.END_LENGTH),
  /** One of {@link GenerateOptions#stop}. */
  STOP_STRING(Native.END_STOP_STRING),
  CANCELLED(Native.END_CANCELLED),
  /** {@link GenerateOptions#deadline} passed. */
  DEADLINE(Native.END_DEADLINE),
  /** The context is full: an end like LENGTH if there was room for a token. */
  CONTEXT(Native.END_CONTEXT),
  ERROR(Native.END_ERROR);

  private final int number;

  EndReason(int number) {
    this.number = number;
  }

  static EndReason of(long number) {
    for (EndReason reason : values()) {
      if (reason.number == number) {
        return reason;
      }
    }
    return ERROR;
  }
}
