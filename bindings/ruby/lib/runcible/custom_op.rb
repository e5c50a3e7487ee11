# frozen_string_literal: true

module Runcible
  # A tensor op that the program defines:
  #
  #   op = Runcible::CustomOp.new(
  #     signature: "x F32 [n] -> y F32 [n]", attributes: "scale float",
  #     opencl_c: "size_t i = get_global_id(0);" \
  #               "if (i < n) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
  #     grid: "n"
  #   ) { |x, scale:| x.map { |each| each / (1 + (each.abs * scale)) } }
  #   y = op.call(x, scale: 0.5)
  #
  # :header: custom_op.h
  class CustomOp < Handle
    # Makes an op of kernels, and for devices that compute in host memory of a
    # function: a block. The block receives the numbers of each input in Arrays
    # nested as its shape is, and the attributes as keywords. It returns such an
    # Array for the output, or an Array of them if there are several outputs. An
    # exception in the block is raised by the call of the op. The block runs on a
    # thread that waits for an op or a graph.
    #
    # In place of the block, a C function: +symbol+ is its name in the shared
    # library at the path +library+, which stays loaded; or +address+ is its
    # address.
    #
    # :header: rc_custom_op_options
    def initialize(address: nil, library: nil, symbol: nil, **options, &function)
      super()
      if function && options[:items]
        raise ArgumentError, "items divide the work of functions of C; a block has one"
      end

      made = self.class.options(**options)
      @name = options.fetch(:name, "custom_op")
      made.set_function(address) if address
      made.set_function_of(Arguments.path(library), symbol || @name) if library
      @attributes = options.fetch(:attributes, "").scan(/(\w+)\s+\w+/).flatten.map(&:to_sym)
      @outputs = made.outputs
      own(function ? Native.custom_op_of_function(made, computing(function)) : Native.custom_op_create(made))
    end

    def self.options( # :nodoc:
      # :api: keywords rc_custom_op_options
    )
      Arguments.set(
        Native::Custom_op_options.new,
        # :api: values rc_custom_op_options
      )
    end

    # Returns the output, or an Array of outputs if the op has several. If a graph
    # records an input, the op is recorded.
    def call(*inputs, **attributes)
      handle = proxy
      list = Graph.list_of(inputs, "an input")
      numbers = numbers_of(attributes)
      made = Native::Tensor_list.new
      Cooperation.wait_for do
        Native.custom_op_compute_serving(handle, list, numbers, @outputs, made)
      end
      outputs = Array.new(@outputs) do |i|
        Tensor.__send__(:of, Native.tensor_of_list(made, i))
      end
      @outputs == 1 ? outputs.first : outputs
    end

    private

    # Returns the function that the library calls for a block; see
    # swig/functions.h.
    def computing(function)
      names = @attributes
      lambda do |inputs, outputs, attributes|
        made = function.call(*inputs.map { |each| nested(*each) }, **names.zip(attributes).to_h)
        made = [made] if outputs.size == 1
        outputs.zip(made).map do |(dtype, shape, _), numbers|
          flat = Array(numbers).flatten
          unless flat.size == shape.reduce(:*)
            raise ArgumentError, "an output of shape #{shape} was given #{flat.size} numbers"
          end

          flat.pack(directive(dtype))
        end
      end
    end

    def nested(dtype, shape, bytes)
      numbers = bytes.unpack(directive(dtype))
      return numbers if numbers.empty?

      shape.drop(1).reverse.inject(numbers) { |list, size| list.each_slice(size).to_a }
    end

    def directive(dtype)
      DIRECTIVES.fetch(DTYPE_NAMES[dtype]) do
        raise ArgumentError, "Arrays have no numbers of #{DTYPE_NAMES[dtype]}"
      end
    end

    # Returns the attributes in their order.
    def numbers_of(attributes)
      missing = @attributes - attributes.keys
      unknown = attributes.keys - @attributes
      unless missing.empty? && unknown.empty?
        raise ArgumentError,
              "#{@name} has the attributes #{@attributes.empty? ? "(none)" : @attributes.join(", ")}; " \
              "missing: #{missing.join(", ")}; unknown: #{unknown.join(", ")}"
      end

      @attributes.each_with_object(Native::Number_list.new) do |name, list|
        list.add(Float(attributes[name]))
      end
    end

    def description
      " #{@name}"
    end
  end
end
