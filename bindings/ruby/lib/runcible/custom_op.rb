# frozen_string_literal: true

module Runcible
  # A tensor op of the program's own:
  #
  #   op = Runcible::CustomOp.new(
  #     signature: "x F32 [...] -> y F32 [...]", attributes: "scale float",
  #     library: "./softsign.so", symbol: "softsign",
  #     opencl_c: "size_t i = get_global_id(0);" \
  #               "if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
  #     grid: "elements(x)"
  #   )
  #   y = op.call(x, scale: 0.5)
  #
  # :header: custom_op.h
  class CustomOp < Handle
    # An op of kernels, and for devices that compute in host memory a function of C:
    # +symbol+, its name in the shared library at the path +library+, which stays
    # loaded, or +address+, where it is. Functions of Ruby are none, for the library
    # calls them from threads of its own.
    #
    # :header: rc_custom_op_options
    def initialize(address: nil, library: nil, symbol: nil, **options)
      super()
      made = self.class.options(**options)
      @name = options.fetch(:name, "custom_op")
      made.set_function(address) if address
      made.set_function_of(Arguments.path(library), symbol || @name) if library
      @attributes = options.fetch(:attributes, "").scan(/(\w+)\s+\w+/).flatten.map(&:to_sym)
      @outputs = made.outputs
      own(Native.custom_op_create(made))
    end

    def self.options( # :nodoc:
      # :api: keywords rc_custom_op_options
    )
      Arguments.set(
        Native::Custom_op_options.new,
        # :api: values rc_custom_op_options
      )
    end

    # The result, or an Array of them if the op has several. In a graph that records
    # it is recorded.
    def call(*inputs, **attributes)
      handle = proxy
      list = Graph.list_of(inputs, "an input")
      numbers = numbers_of(attributes)
      made = Native::Tensor_list.new
      Cooperation.wait_for do
        Native.custom_op_compute(handle, list, numbers, @outputs, made)
      end
      outputs = Array.new(@outputs) do |i|
        Tensor.__send__(:of, Native.tensor_of_list(made, i))
      end
      @outputs == 1 ? outputs.first : outputs
    end

    private

    # The attributes in their order.
    def numbers_of(attributes)
      lacking = @attributes - attributes.keys
      unknown = attributes.keys - @attributes
      unless lacking.empty? && unknown.empty?
        raise ArgumentError,
              "#{@name} has the attributes #{@attributes.empty? ? "(none)" : @attributes.join(", ")}; " \
              "missing: #{lacking.join(", ")}; unknown: #{unknown.join(", ")}"
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
