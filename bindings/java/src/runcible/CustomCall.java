package runcible;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What the function of a {@link CustomOp} is to compute. All buffers show memory
 * of the library, which is gone when the function has returned: they must not be
 * kept.
 */
public final class CustomCall {
  /**
   * An input or an output, row-major.
   *
   * @param dtype the type of its elements
   * @param shape the slowest dimension first
   * @param data its bytes in the order of the machine; read-only of an input
   */
  public record Value(Dtype dtype, List<Long> shape, ByteBuffer data) {}

  private final List<Value> inputs;
  private final List<Value> outputs;
  private final double[] attributes;
  private final long begin;
  private final long end;
  private final long address;

  private CustomCall(
      List<Value> inputs, List<Value> outputs, double[] attributes, long begin,
      long end, long address) {
    this.inputs = inputs;
    this.outputs = outputs;
    this.attributes = attributes;
    this.begin = begin;
    this.end = end;
    this.address = address;
  }

  /** In the order of the signature. */
  public List<Value> inputs() {
    return inputs;
  }

  /** In the order of the signature; their bytes are undefined at first. */
  public List<Value> outputs() {
    return outputs;
  }

  /** One of the numbers that were given, in the order of their names. */
  public double attribute(int i) {
    return attributes[i];
  }

  /** The first item to compute; without `items` there is one. */
  public long begin() {
    return begin;
  }

  /** Before which item to end. */
  public long end() {
    return end;
  }

  /**
   * Whether nobody waits for the op any more: what takes longer than 20 ms asks
   * now and then, during the call, and returns.
   */
  public boolean stopped() {
    return Native.custom_call_stopped(address) != 0;
  }

  /**
   * Called by C++, on any thread: the status, and the text of what the function
   * threw.
   */
  static int compute(
      CustomOp.Function function, Object[] buffers, long[][] shapes,
      int[] types, int inputCount, double[] attributes, long begin, long end,
      long address, byte[][] text) {
    try {
      List<Value> values = new ArrayList<>();
      for (int i = 0; i < buffers.length; ++i) {
        values.add(value(
            (ByteBuffer) buffers[i], shapes[i], types[i], i < inputCount));
      }
      function.compute(new CustomCall(
          Collections.unmodifiableList(values.subList(0, inputCount)),
          Collections.unmodifiableList(
              values.subList(inputCount, values.size())),
          attributes, begin, end, address));
      return 0;
    } catch (Throwable failure) {
      boolean own = failure instanceof RuncibleException;
      text[0] = (own ? failure.getMessage() : failure.toString())
          .getBytes(StandardCharsets.UTF_8);
      return own ? ((RuncibleException) failure).status() : Native.E_DEVICE;
    }
  }

  private static Value value(
      ByteBuffer buffer, long[] sizes, int type, boolean input) {
    ByteBuffer data = buffer == null ? ByteBuffer.allocateDirect(0) : buffer;
    if (input) {
      data = data.asReadOnlyBuffer();
    }
    List<Long> shape = new ArrayList<>();
    for (long size : sizes) {
      shape.add(size);
    }
    return new Value(
        Dtype.of(type), Collections.unmodifiableList(shape),
        data.order(ByteOrder.nativeOrder()));
  }
}
