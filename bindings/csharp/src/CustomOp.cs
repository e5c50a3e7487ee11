using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Runcible.Native;

namespace Runcible {
  public sealed partial class CustomOpOptions {
    /// <summary>Computes the op on devices that compute in host memory, on
    /// threads of the package, and with Items in several calls at once. An
    /// exception that it throws becomes the error of the op, with its
    /// text.</summary>
    public Action<CustomCall> Function { get; set; }

    /// <summary>A shared library with a function of C, an rc_custom_function,
    /// in place of Function: Symbol is its name in the library at this path,
    /// which stays loaded.</summary>
    public string Library { get; set; }

    /// <summary>The name of the function in Library.</summary>
    public string Symbol { get; set; }

    /// <summary>The address of a function of C, an rc_custom_function, in place
    /// of Function.</summary>
    public IntPtr Address { get; set; }
  }

  /// <summary>{@rc custom_op.h}</summary>
  public sealed class CustomOp : Handle {
    private readonly custom_op handle;
    private readonly int outputs;

    /// <summary>{@rc rc_custom_op_create}</summary>
    public CustomOp(CustomOpOptions options) : this(Make(options)) {
    }

    private CustomOp(KeyValuePair<custom_op, int> made) : base(made.Key) {
      handle = made.Key;
      outputs = made.Value;
    }

    /// Makes the op, and returns it and the number of its outputs.
    private static KeyValuePair<custom_op, int> Make(CustomOpOptions options) {
      using (custom_op_options made = options.Make()) {
        if (options.Address != IntPtr.Zero) {
          made.set_function((ulong)options.Address.ToInt64());
        }
        if (options.Library != null) {
          made.set_function_of(
              Memory.Name(options.Library),
              Memory.Name(options.Symbol ?? options.Name));
        }
        var held = default(GCHandle);
        if (options.Function != null) {
          Asked.Begin();
          held = GCHandle.Alloc(options.Function);
        }
        try {
          if (held.IsAllocated) {
            made.set_callback(GCHandle.ToIntPtr(held));
          }
          native.custom_op_create(made, out IntPtr created);
          return new KeyValuePair<custom_op, int>(
              new custom_op(created), made.outputs());
        } catch {
          if (held.IsAllocated) {
            made.drop_callback();
            held.Free();
          }
          throw;
        }
      }
    }

    /// <summary>Returns the outputs for these inputs, with the attributes in
    /// the order of their names. If an input belongs to a graph being recorded,
    /// records the op.</summary>
    public Tensor[] Compute(
        IEnumerable<Tensor> inputs, params double[] attributes) {
      using (tensor_list given = Graph.ListOf(inputs))
      using (var numbers = new number_list())
      using (var made = new tensor_list()) {
        foreach (double each in attributes) {
          numbers.add(each);
        }
        native.custom_op_compute(handle, given, numbers, outputs, made);
        var tensors = new Tensor[outputs];
        for (int i = 0; i < outputs; ++i) {
          native.tensor_of_list(made, i, out var one);
          tensors[i] = Tensor.Of(one);
        }
        return tensors;
      }
    }
  }
}
