# frozen_string_literal: true

# Memory that devices copy numbers from and to by themselves.
require_relative "helper"
Warning[:experimental] = false # of IO::Buffer in Ruby 3.1

class TestPinned < Minitest::Test
  include Helper

  BACKEND = Runcible::Backend.new("cpu")

  def write(buffer, numbers)
    numbers.each_with_index { |each, i| buffer.set_value(:f32, 4 * i, each) }
  end

  def numbers_of(buffer)
    buffer.get_string.unpack("f*")
  end

  %w[cpu reference opencl vulkan].each do |spec|
    define_method("test_numbers_go_to_#{spec}_and_back") do
      begin
        device = Runcible::Backend.new(spec)
      rescue Runcible::BackendUnavailableError => e
        skip e.message
      end
      from = Runcible::Pinned.new(device, 400)
      to = Runcible::Pinned.new(device, 408)
      assert_equal "\0" * 408, to.buffer.get_string
      numbers = Array.new(100, &:to_f)
      write(from.buffer, numbers)
      x = Runcible::Tensor.from_bytes(from.buffer, [10, 10], "f32", device)
      write(from.buffer, [7] * 100) # the tensor has a copy
      assert_same to.buffer, x.neg.read_into(to.buffer)
      assert_equal numbers.map(&:-@) + [0, 0], numbers_of(to.buffer)
      [from, to].each(&:close)
    end
  end

  # Parts of its buffer keep the memory.
  def test_memory_is_not_collected
    parts = Array.new(50) do |i|
      memory = Runcible::Pinned.new(BACKEND, 4096)
      write(memory.buffer, [i.to_f])
      memory.buffer.slice(0, 4)
    end
    GC.start
    GC.compact if GC.respond_to?(:compact)
    parts.each_with_index { |part, i| assert_equal [i.to_f], numbers_of(part) }
  end

  def test_closed_memory_raises_errors
    memory = Runcible::Pinned.new(BACKEND, 12)
    buffer = memory.buffer
    part = buffer.slice(4, 4)
    x = Runcible::Tensor.new([1, 2, 3], BACKEND)
    2.times { memory.close }
    assert_raises(Runcible::ClosedError) { memory.buffer }
    assert_raises(IO::Buffer::AllocationError) { buffer.get_value(:f32, 0) }
    assert_raises(IO::Buffer::AllocationError) { x.read_into(buffer) }
    assert_raises(IO::Buffer::InvalidatedError) { part.get_value(:f32, 0) }
    assert_raises(IO::Buffer::AllocationError) do
      Runcible::Tensor.from_bytes(buffer, [3], "f32", BACKEND)
    end
    assert_raises(Runcible::ClosedError) do
      Runcible::Tensor.borrow(buffer, [3], "f32", BACKEND)
    end
  end

  def test_invalid_arguments_raise_errors
    assert_raises(Runcible::InvalidArgumentError) { Runcible::Pinned.new(BACKEND, -1) }
    memory = Runcible::Pinned.new(BACKEND, 8)
    # Freeing or moving the buffer would leave the memory unowned.
    assert_raises(IO::Buffer::LockedError) { memory.buffer.free }
    assert_raises(IO::Buffer::LockedError) { memory.buffer.transfer }
    x = Runcible::Tensor.new([1, 2, 3], BACKEND)
    assert_raises(TypeError) { x.read_into("text") }
  end
end
