package runcible;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A tensor op that the program defines.
 *
 * {@rc custom_op.h}
 */
public final class CustomOp extends Handle {
  /** Computes an op on devices that compute in host memory. */
  @FunctionalInterface
  public interface Function {
    /**
     * Writes the outputs, on any thread, and with `items` on several at once.
     * An exception that it throws becomes the error of the op, with its text.
     */
    void compute(CustomCall call) throws Exception;
  }

  private final custom_op handle;
  private final int outputs;

  private CustomOp(custom_op handle, int outputs) {
    super(handle);
    this.handle = handle;
    this.outputs = outputs;
  }

  /** Makes an op from kernels alone. */
  public static CustomOp of(CustomOpOptions options) {
    try (custom_op_options made = options.make()) {
      return of(made);
    }
  }

  /** Makes an op from a function, and from kernels if the options have some. */
  public static CustomOp of(CustomOpOptions options, Function function) {
    if (function == null) {
      throw new IllegalArgumentException("the function of an op is null");
    }
    try (custom_op_options made = options.make()) {
      made.set_callback(function);
      try {
        return of(made);
      } catch (Throwable failure) {
        made.drop_callback();
        throw failure;
      }
    }
  }

  /**
   * Makes an op from a function of C, an rc_custom_function, by its name in a
   * shared library, which stays loaded.
   */
  public static CustomOp of(
      CustomOpOptions options, Path library, String symbol) {
    byte[] path = Text.name(library.toString());
    byte[] name = Text.name(symbol);
    try (custom_op_options made = options.make()) {
      made.set_function_of(path, name);
      return of(made);
    }
  }

  /** Makes an op from a function of C, an rc_custom_function, at an address. */
  public static CustomOp of(CustomOpOptions options, long address) {
    try (custom_op_options made = options.make()) {
      made.set_function(address);
      return of(made);
    }
  }

  private static CustomOp of(custom_op_options made) {
    int outputs = made.outputs();
    return new CustomOp(
        new custom_op((Long) Native.custom_op_create(made)), outputs);
  }

  /**
   * Returns the outputs for these inputs, with the attributes in the order of
   * their names. If an input belongs to a graph being recorded, records the op.
   */
  public List<Tensor> compute(List<Tensor> inputs, double... attributes) {
    try (tensor_list given = new tensor_list();
         number_list numbers = new number_list();
         tensor_list made = new tensor_list()) {
      for (Tensor each : inputs) {
        each.addTo(given);
      }
      for (double each : attributes) {
        numbers.add(each);
      }
      Native.custom_op_compute(handle, given, numbers, outputs, made);
      List<Tensor> tensors = new ArrayList<>();
      for (int i = 0; i < outputs; ++i) {
        tensors.add(new Tensor(Native.tensor_of_list(made, i)));
      }
      return List.copyOf(tensors);
    }
  }
}
