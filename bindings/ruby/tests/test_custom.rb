# frozen_string_literal: true

# Custom ops: functions of C and kernels.
require_relative "helper"

class TestCustom < Minitest::Test
  include Helper

  BACKEND = Runcible::Backend.new("cpu")
  X = [-4.0, -1.0, 0.0, 1.0, 3.0].freeze
  SOFTSIGN = {
    name: "softsign", signature: "x F32 [...] -> y F32 [...]", attributes: "scale float",
    items: "elements(x)", library: ENV.fetch("RUNCIBLE_CUSTOM_OP"),
    opencl_c: "size_t i = get_global_id(0);\n" \
              "if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
    grid: "elements(x)"
  }.freeze

  def softsign(numbers, scale)
    numbers.map { |x| x / (1 + (x.abs * scale)) }
  end

  def assert_near(expected, tensor)
    expected.zip(tensor.to_a) { |wanted, found| assert_in_delta wanted, found, 1e-6 }
  end

  def backends
    %w[cpu reference opencl].filter_map do |device|
      Runcible::Backend.new(device)
    rescue Runcible::Error
      nil
    end
  end

  def test_functions_of_c_and_kernels
    op = Runcible::CustomOp.new(**SOFTSIGN)
    backends.each do |backend|
      assert_near softsign(X, 0.5), op.call(Runcible::Tensor.new(X, backend), scale: 0.5)
    end
    graph = Runcible::Graph.record(BACKEND, Runcible::Tensor.new(X, BACKEND)) do |x|
      op.call(x + x, scale: 2).relu
    end
    expected = softsign(X.map { |x| 2 * x }, 2).map { |y| [y, 0].max }
    assert_near expected, graph.run(Runcible::Tensor.new(X, BACKEND))
  end

  def refuses(kind, says, *inputs, changes: {}, **attributes)
    error = assert_raises(kind) do
      Runcible::CustomOp.new(**SOFTSIGN, **changes).call(*inputs, **attributes)
    end
    assert_includes error.message, says
  end

  def test_what_goes_wrong
    x = Runcible::Tensor.new(X, BACKEND)
    refuses(Runcible::FormatError, "softsign will not", x, changes: { symbol: "refuses" }, scale: 1)
    refuses(ArgumentError, "missing: scale", x)
    refuses(ArgumentError, "unknown: size", x, scale: 1, size: 2)
    refuses(TypeError, "an input must be", 1, scale: 1)
    refuses(Runcible::InvalidArgumentError, "inputs", x, x, scale: 1)
    refuses(Runcible::NotFoundError, "nothing", changes: { symbol: "nothing" })
    refuses(Runcible::NotFoundError, "such", changes: { library: "/no/such.so" })
    refuses(Runcible::InvalidArgumentError, "signature", changes: { signature: "x F32 [n]" })
    refuses(Runcible::InvalidArgumentError, "neither a function nor a kernel",
            changes: { library: nil, opencl_c: nil })
    refuses(ArgumentError, "nothing", changes: { nothing: 1 })
    refuses(Runcible::UnsupportedError, "no function", x, changes: { library: nil }, scale: 1)
    op = Runcible::CustomOp.new(**SOFTSIGN)
    op.close
    assert_raises(Runcible::ClosedError) { op.call(x, scale: 1) }
  end
end
