# frozen_string_literal: true

require "json"

module Runcible
  # :header: tensor.h
  class Tensor < Handle
    FUNCTIONS = Native.constants.grep(/\AFUNCTION_/).to_h do |name|
      [name.to_s.delete_prefix("FUNCTION_").downcase, Native.const_get(name)]
    end.freeze
    ALL = -2**31 # as the dimension of a reduction
    private_constant :FUNCTIONS, :ALL

    # Makes a tensor of the numbers of an Array, whose nesting is the shape, or of
    # a flat Array with a +shape+. They are copied to the backend's device. Types
    # that Array#pack does not support are made from F32; see #quantize.
    def initialize(numbers, backend, shape: nil, dtype: "f32")
      super()
      handle = Arguments.proxy_of(backend, Backend, "backend")
      number = Arguments.choice(DTYPES, dtype, "dtype")
      shape ||= self.class.shape_of(numbers)
      packed = DIRECTIVES.key?(DTYPE_NAMES[number]) ? DTYPE_NAMES[number] : "f32"
      bytes = Array(numbers).flatten.pack(DIRECTIVES[packed])
      made = Native.tensor_from_data(handle, DTYPES[packed], shape, bytes)
      made = Native.op_quantize(made, number) if DTYPES[packed] != number
      own(made)
    end

    def self.shape_of(numbers) # :nodoc:
      raise TypeError, "numbers must be an Array, not #{numbers.class}" unless numbers.is_a?(Array)

      shape = [numbers.size]
      first = numbers.first
      return shape unless first.is_a?(Array)

      inner = shape_of(first)
      unless numbers.all? { |each| each.is_a?(Array) && shape_of(each) == inner }
        raise ArgumentError, "the Arrays within numbers differ in their sizes"
      end

      shape + inner
    end

    # :header: rc_tensor_from_data
    #
    # The +bytes+ are a String or an IO::Buffer.
    def self.from_bytes(bytes, shape, dtype, backend)
      handle = Arguments.proxy_of(backend, Backend, "backend")
      number = Arguments.choice(DTYPES, dtype, "dtype")
      return of(Native.tensor_from_data(handle, number, shape, bytes)) unless bytes.is_a?(IO::Buffer)

      of(Native.tensor_of_buffer(handle, number, shape, bytes))
    end

    # Makes a tensor that uses the memory of an IO::Buffer without a copy. The
    # buffer must not be read-only, must have its own memory or map a file, and
    # must have the size of the shape in the layout of the type. The buffer is
    # kept and locked as long as the library needs it, and then until the next
    # handle is closed. Ops read the values that are in the buffer when they run,
    # and ops that write into the tensor write to the buffer. Do not access the
    # buffer while a call works with it. UnsupportedError: the device has separate
    # memory.
    #
    # The buffer of a Pinned is borrowed as a whole, and the tensor keeps the
    # memory.
    #
    # Strings are not borrowed: other objects may share their memory.
    def self.borrow(buffer, shape, dtype, backend)
      handle = Arguments.proxy_of(backend, Backend, "backend")
      number = Arguments.choice(DTYPES, dtype, "dtype")
      pinned = Pinned.proxy_of(buffer)
      return of(Native.pinned_borrow(handle, number, shape, pinned, 0, buffer.size)) if pinned

      unless buffer.is_a?(IO::Buffer) && (buffer.internal? || buffer.mapped?)
        raise TypeError,
              "borrowed memory must be an IO::Buffer with its own memory, not " \
              "#{buffer.is_a?(IO::Buffer) ? "a buffer of other memory" : buffer.class}"
      end

      of(Native.tensor_borrow(handle, number, shape, buffer))
    end

    # :api: makers

    # Returns the type of the elements: "f32", "q4_k".
    def dtype
      number = Native.tensor_dtype(proxy)
      DTYPE_NAMES.fetch(number) { number.to_s }
    end

    # Returns the dimensions, slowest first.
    def shape
      Native.tensor_shape(proxy)
    end

    # Returns the number of elements.
    def size
      Native.tensor_size(proxy).first
    end

    # Returns the number of bytes that the elements take in their type.
    def bytesize
      Native.tensor_size(proxy).last
    end

    # :header: rc_tensor_device
    def device
      Native.tensor_device(proxy)
    end

    # :header: rc_tensor_to
    def to(device = "", backend = nil)
      other = backend && Arguments.proxy_of(backend, Backend, "backend")
      self.class.__send__(:of, Native.tensor_to(proxy, other, device))
    end

    # :header: rc_op_choose
    def choice
      JSON.parse(Native.op_choose(proxy))
    end

    # :header: rc_tensor_read
    def read
      handle = proxy
      Native.tensor_read(handle, Native.tensor_size(handle).last)
    end

    # Writes the numbers, in the layout of #read, to the beginning of an
    # IO::Buffer; other threads of Ruby wait meanwhile.
    def read_into(buffer)
      Native.tensor_read_into(proxy, buffer)
      buffer
    end

    # Returns the numbers in Arrays nested as the shape is. Types that
    # String#unpack does not support are decoded to F32.
    def to_a
      type = dtype
      return dequantize.to_a unless DIRECTIVES.key?(type)

      nested(read.unpack(DIRECTIVES[type]), shape)
    end

    # Views and ops.

    # :api: ops

    private

    def made(function, *arguments)
      self.class.__send__(:of, Native.public_send(function, proxy, *arguments))
    end

    def nested(numbers, shape)
      return numbers if shape.size == 1

      inner = shape.drop(1)
      count = inner.reduce(:*)
      Array.new(shape.first) { |i| nested(numbers[i * count, count], inner) }
    end

    def operand(tensor)
      Arguments.proxy_of(tensor, Tensor, "the operand")
    end

    def optional(tensor)
      tensor.nil? ? nil : operand(tensor)
    end

    def description
      " #{dtype} #{shape}"
    end
  end
end
