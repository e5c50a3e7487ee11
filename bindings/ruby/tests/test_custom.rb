# frozen_string_literal: true

# Custom ops: blocks, functions of C and kernels; borrowed memory.
require_relative "helper"
require_relative "scheduler"
Warning[:experimental] = false # of IO::Buffer in Ruby 3.1

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

  def check_softsign(softsign_op)
    backends.each do |backend|
      assert_near softsign(X, 0.5), softsign_op.call(Runcible::Tensor.new(X, backend), scale: 0.5)
    end
    graph = Runcible::Graph.record(BACKEND, Runcible::Tensor.new(X, BACKEND)) do |x|
      softsign_op.call(x + x, scale: 2).relu
    end
    expected = softsign(X.map { |x| 2 * x }, 2).map { |y| [y, 0].max }
    assert_near expected, graph.run(Runcible::Tensor.new(X, BACKEND))
    graph
  end

  def test_functions_of_c_and_kernels_compute_the_op
    check_softsign Runcible::CustomOp.new(**SOFTSIGN)
  end

  def test_blocks_compute_the_op
    options = SOFTSIGN.except(:library, :items)
    graph = check_softsign(Runcible::CustomOp.new(**options) { |x, scale:| softsign(x, scale) })
    GC.start # does not free the op, which the graph keeps
    found = {}
    Scheduler.run do
      3.times do |i|
        Fiber.schedule { found[i] = graph.run(Runcible::Tensor.new(X, BACKEND)).to_a.size }
      end
    end
    assert_equal({ 0 => 5, 1 => 5, 2 => 5 }, found)
    assert_raises(ArgumentError) { Runcible::CustomOp.new(**SOFTSIGN) { |x| x } }
  end

  def weighted(rows, weights)
    raise "not mine" if weights.first.negative?
    return [[1], [[1, 2]]] if weights.first.zero?

    [rows.map { |row| row.zip(weights).sum { |a, b| a * b } },
     rows.map { |row| row.map(&:-@) }]
  end

  def test_blocks_take_types_and_raise_their_errors
    op = Runcible::CustomOp.new(
      signature: "x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]"
    ) { |rows, weights| weighted(rows, weights) }
    x = Runcible::Tensor.new([[1, 2], [3, 4], [5, 6]], BACKEND, dtype: "i32")
    call = ->(*weights) { op.call(x, Runcible::Tensor.new(weights, BACKEND, dtype: "f64")) }
    assert_equal [[11.0, 32.0, 53.0], [[-1, -2], [-3, -4], [-5, -6]]], call.call(10, 0.5).map(&:to_a)
    error = assert_raises(RuntimeError) { call.call(-1, 0) }
    assert_equal "not mine", error.message
    error = assert_raises(ArgumentError) { call.call(0, 0) }
    assert_includes error.message, "an output of shape [3]"
    # Leaving the block in other ways does no harm.
    left = catch(:out) do
      Runcible::CustomOp.new(signature: "x F32 [n] -> y F32 [n]") { throw :out, 7 }
                        .call(Runcible::Tensor.new([1], BACKEND))
    end
    assert_equal 7, left
    assert_equal 2, call.call(10, 0.5).size
  end

  def assert_refused(kind, says, *inputs, changes: {}, **attributes)
    error = assert_raises(kind) do
      Runcible::CustomOp.new(**SOFTSIGN, **changes).call(*inputs, **attributes)
    end
    assert_includes error.message, says
  end

  def buffer_of(*numbers)
    buffer = IO::Buffer.new(numbers.size * 4)
    numbers.each_with_index { |each, i| buffer.set_value(:f32, i * 4, each) }
    buffer
  end

  def numbers_of(buffer)
    buffer.get_string.unpack("f*")
  end

  def test_borrowed_tensor_shares_the_buffer
    buffer = buffer_of(1, -2, 3)
    x = Runcible::Tensor.borrow(buffer, [3], "f32", BACKEND)
    assert_equal [1.0, 0.0, 3.0], x.relu.to_a
    buffer.set_value(:f32, 0, -7)
    assert_equal [-7.0, -2.0, 3.0], x.to_a
    Runcible::Tensor.new([4, 5, 6], BACKEND).into(x).neg
    assert_equal [-4.0, -5.0, -6.0], numbers_of(buffer)
    assert_raises(IO::Buffer::LockedError) { buffer.free }
    again = Runcible::Tensor.borrow(buffer, [3], "f32", BACKEND)
    graph = Runcible::Graph.record(BACKEND, x) { |given| given + again }
    [x, again].each(&:close)
    GC.start
    assert_raises(IO::Buffer::LockedError) { buffer.free }
    assert_equal [-3.0, -4.0, -5.0], graph.run(Runcible::Tensor.new([1, 1, 1], BACKEND)).to_a
    graph.close
    buffer.free
  end

  def test_borrowed_memory_survives_the_collector
    tensors = Array.new(50) do |i|
      Runcible::Tensor.borrow(buffer_of(*[i] * 1000), [1000], "f32", BACKEND)
    end
    GC.start
    GC.compact if GC.respond_to?(:compact)
    tensors.each_with_index { |x, i| assert_equal [i.to_f] * 1000, x.to_a }
  end

  def test_borrow_refuses_strings_and_wrong_sizes
    borrow = ->(memory, size) { Runcible::Tensor.borrow(memory, [size], "f32", BACKEND) }
    assert_raises(TypeError) { borrow.call("1234", 1) }
    assert_raises(TypeError) { borrow.call(IO::Buffer.for("1234"), 1) }
    buffer = buffer_of(1, 2)
    error = assert_raises(Runcible::InvalidArgumentError) { borrow.call(buffer, 3) }
    assert_includes error.message, "[3]"
    buffer.free
  end

  def test_errors_name_the_cause
    x = Runcible::Tensor.new(X, BACKEND)
    assert_refused(ArgumentError, "missing: scale", x)
    assert_refused(ArgumentError, "unknown: size", x, scale: 1, size: 2)
    assert_refused(TypeError, "an input must be", 1, scale: 1)
    assert_refused(Runcible::InvalidArgumentError, "inputs", x, x, scale: 1)
    assert_refused(Runcible::NotFoundError, "such", changes: { library: "/no/such.so" })
    assert_refused(Runcible::InvalidArgumentError, "signature", changes: { signature: "x F32 [n]" })
    assert_refused(Runcible::InvalidArgumentError, "neither a function nor a kernel",
                   changes: { library: nil, opencl_c: nil })
    assert_refused(ArgumentError, "nothing", changes: { nothing: 1 })
    assert_refused(Runcible::UnsupportedError, "no function", x, changes: { library: nil }, scale: 1)
  end
end
