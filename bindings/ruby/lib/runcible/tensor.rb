# frozen_string_literal: true

module Runcible
  # :header: tensor.h
  class Tensor < Handle
    # How Array#pack and String#unpack write numbers of these types.
    DIRECTIVES = {
      "f32" => "f*", "f64" => "d*", "i8" => "c*", "i16" => "s*", "i32" => "l*",
      "i64" => "q*"
    }.freeze
    FUNCTIONS = Native.constants.grep(/\AFUNCTION_/).to_h do |name|
      [name.to_s.delete_prefix("FUNCTION_").downcase, Native.const_get(name)]
    end.freeze
    DISTRIBUTIONS = {
      "normal" => Native::RANDOM_NORMAL, "uniform" => Native::RANDOM_UNIFORM
    }.freeze
    STYLES = {
      "adjacent" => Native::ROPE_ADJACENT, "halves" => Native::ROPE_HALVES
    }.freeze
    ALL = -2**31 # as the dimension of a reduction
    private_constant :DIRECTIVES, :FUNCTIONS, :DISTRIBUTIONS, :STYLES, :ALL

    # A tensor of the numbers of an Array, whose nesting is the shape, or of a
    # flat one with a +shape+. They are copied to the backend's device. Types
    # that Array#pack lacks are made of F32; see #quantize.
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
    def self.from_bytes(bytes, shape, dtype, backend)
      of(Native.tensor_from_data(
           Arguments.proxy_of(backend, Backend, "backend"),
           Arguments.choice(DTYPES, dtype, "dtype"), shape, bytes
         ))
    end

    # :header: rc_tensor_create
    def self.zeros(shape, backend, dtype: "f32")
      of(Native.tensor_create(Arguments.proxy_of(backend, Backend, "backend"),
                              Arguments.choice(DTYPES, dtype, "dtype"), shape))
    end

    # :header: rc_tensor_ones
    def self.ones(shape, backend, dtype: "f32")
      of(Native.tensor_ones(Arguments.proxy_of(backend, Backend, "backend"),
                            Arguments.choice(DTYPES, dtype, "dtype"), shape))
    end

    # :header: rc_tensor_random
    #
    # :header: rc_random_options
    #
    # +distribution+ is :normal or :uniform.
    def self.random(shape, backend, seed: nil, distribution: :normal, mean: nil,
                    deviation: nil, low: nil, high: nil)
      options = Arguments.set(
        Native::Random_options.new,
        seed: seed, mean: mean, deviation: deviation, low: low, high: high,
        distribution: Arguments.choice(DISTRIBUTIONS, distribution, "distribution")
      )
      handle = Arguments.proxy_of(backend, Backend, "backend")
      of(Native.tensor_random(handle, shape, options))
    end

    # The type of the elements: "f32", "q4_k".
    def dtype
      number = Native.tensor_dtype(proxy)
      DTYPE_NAMES.fetch(number) { number.to_s }
    end

    # The dimensions, slowest first.
    def shape
      Native.tensor_shape(proxy)
    end

    # The number of elements.
    def size
      Native.tensor_size(proxy).first
    end

    # The bytes that the numbers take in their type.
    def bytesize
      Native.tensor_size(proxy).last
    end

    # :header: rc_tensor_read
    def read
      handle = proxy
      Native.tensor_read(handle, Native.tensor_size(handle).last)
    end

    # The numbers in Arrays nested as the shape is. Types that String#unpack
    # lacks are decoded to F32.
    def to_a
      type = dtype
      return dequantize.to_a unless DIRECTIVES.key?(type)

      nested(read.unpack(DIRECTIVES[type]), shape)
    end

    # Views.

    # :header: rc_tensor_reshape
    def reshape(*shape)
      made(:tensor_reshape, shape)
    end

    # :header: rc_tensor_slice
    def slice(dimension, first, last, step = 1)
      made(:tensor_slice, dimension, first, last, step)
    end

    # :header: rc_tensor_transpose
    def transpose(dimension = -2, other = -1)
      made(:tensor_transpose, dimension, other)
    end

    # Ops.

    # :header: rc_op_matmul
    def matmul(other)
      made(:op_matmul, operand(other))
    end

    # :header: rc_op_matmul_transposed
    def matmul_transposed(other)
      made(:op_matmul_transposed, operand(other))
    end

    # :header: rc_op_matmul_quantized
    def matmul_quantized(weight)
      made(:op_matmul_quantized, operand(weight))
    end

    # :header: rc_op_fused_linear
    def fused_linear(weight, bias = nil, function: :none)
      made(:op_fused_linear, operand(weight), optional(bias),
           Arguments.choice(FUNCTIONS, function, "function"))
    end

    # :header: rc_op_add
    def +(other)
      made(:op_add, operand(other))
    end

    # :header: rc_op_mul
    def *(other)
      made(:op_mul, operand(other))
    end

    # :header: rc_op_relu
    def relu = made(:op_relu)

    # :header: rc_op_relu
    def sigmoid = made(:op_sigmoid)

    # :header: rc_op_relu
    def silu = made(:op_silu)

    # :header: rc_op_relu
    def gelu = made(:op_gelu)

    # :header: rc_op_relu
    def gelu_tanh = made(:op_gelu_tanh)

    # :header: rc_op_relu
    def gelu_quick = made(:op_gelu_quick)

    # :header: rc_op_relu
    def tanh = made(:op_tanh)

    # :header: rc_op_softmax
    def softmax(dimension = -1)
      made(:op_softmax, dimension)
    end

    # :header: rc_op_rms_norm
    def rms_norm(weight = nil, epsilon: 1e-5)
      made(:op_rms_norm, optional(weight), epsilon)
    end

    # :header: rc_op_layer_norm
    def layer_norm(weight = nil, bias = nil, epsilon: 1e-5)
      made(:op_layer_norm, optional(weight), optional(bias), epsilon)
    end

    # :header: rc_op_rope
    #
    # :header: rc_rope_options
    #
    # +style+ is :adjacent or :halves.
    def rope(positions, frequencies = nil, style: :adjacent, dimensions: nil,
             theta: nil, scale: nil)
      options = Arguments.set(
        Native::Rope_options.new,
        style: Arguments.choice(STYLES, style, "style"),
        dimensions: dimensions, theta: theta, scale: scale
      )
      made(:op_rope, operand(positions), optional(frequencies), options)
    end

    # :header: rc_op_attention
    #
    # :header: rc_attention_options
    def attention(keys, values, scale: nil, softcap: nil, causal: nil)
      options = Arguments.set(Native::Attention_options.new,
                              scale: scale, softcap: softcap, causal: causal)
      made(:op_attention, operand(keys), operand(values), options)
    end

    # :header: rc_op_reduce_sum
    def sum(dimension = nil, keep: false)
      reduced(:op_reduce_sum, dimension, keep)
    end

    # :header: rc_op_reduce_sum
    def mean(dimension = nil, keep: false)
      reduced(:op_reduce_mean, dimension, keep)
    end

    # :header: rc_op_reduce_sum
    def max(dimension = nil, keep: false)
      reduced(:op_reduce_max, dimension, keep)
    end

    # :header: rc_op_argmax
    def argmax(dimension = nil, keep: false)
      reduced(:op_argmax, dimension, keep)
    end

    # :header: rc_op_conv2d
    #
    # :header: rc_conv2d_options
    def conv2d(weight, bias = nil, stride: [1, 1], padding: [0, 0],
               dilation: [1, 1], groups: nil)
      options = Arguments.set(Native::Conv2d_options.new, groups: groups)
      options.set_stride(*stride)
      options.set_padding(*padding)
      options.set_dilation(*dilation)
      made(:op_conv2d, operand(weight), optional(bias), options)
    end

    # :header: rc_op_gather_rows
    def gather_rows(ids)
      made(:op_gather_rows, operand(ids))
    end

    # :header: rc_op_quantize
    def quantize(dtype)
      made(:op_quantize, Arguments.choice(DTYPES, dtype, "dtype"))
    end

    # :header: rc_op_dequantize
    def dequantize = made(:op_dequantize)

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

    def reduced(function, dimension, keep)
      made(function, dimension.nil? ? ALL : dimension, keep ? 1 : 0)
    end

    def description
      " #{dtype} #{shape}"
    end
  end
end
