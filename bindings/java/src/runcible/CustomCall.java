package runcible;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A call of the function of a {@link CustomOp}: the items to compute, with
 * inputs and outputs. All buffers show memory of the library that is valid only
 * until the function returns: do not keep them.
 */
public final class CustomCall {
  /**
   * An input or an output, row-major.
   *
   * @param dtype the type of its elements
   * @param shape the slowest dimension first
   * @param data its bytes in the byte order of the machine; an input is
   *     read-only
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

  /** Returns the inputs in the order of the signature. */
  public List<Value> inputs() {
    return inputs;
  }

  /** Returns the outputs in the order of the signature; undefined at first. */
  public List<Value> outputs() {
    return outputs;
  }

  /** Returns one of the given numbers, in the order of their names. */
  public double attribute(int i) {
    return attributes[i];
  }

  /** Returns the first item to compute; without `items` there is one. */
  public long begin() {
    return begin;
  }

  /** Returns the item before which to end. */
  public long end() {
    return end;
  }

  /**
   * Returns whether to stop, as the result is no longer needed. A function that
   * takes longer than 20 ms checks this now and then, and returns.
   */
  public boolean stopped() {
    return Native.custom_call_stopped(address) != 0;
  }

  /**
   * Called by C++, on any thread. Returns the status, and puts the text of an
   * exception of the function into `text`.
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
