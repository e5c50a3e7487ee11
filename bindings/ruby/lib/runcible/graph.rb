# frozen_string_literal: true

module Runcible
  # A recorded block of tensor ops, which runs many times as one.
  #
  #   graph = Runcible::Graph.record(backend, x) { |x| (x * scale + offset).relu }
  #   y = graph.run(x2)
  #
  # Chains of elementwise ops run in one pass over memory, and matrix products run
  # together with the bias and the function that follow them. The numbers are
  # those of the same ops run one by one.
  class Graph < Handle
    private_class_method :new, :open

    class << self
      # Calls the block with tensors that stand for the inputs and have the types
      # and shapes of the given tensors. The ops on them are recorded and not run.
      # The block's value, a tensor or an Array of tensors, is the output, which
      # each run computes as new tensors; other tensors that it uses are
      # constants. An op raises an error for shapes and types that do not fit.
      def record(backend, *inputs)
        handle = Native.graph_begin(Arguments.proxy_of(backend, Backend, "backend"))
        stand_ins = inputs.map { |like| stand_in(handle, like) }
        made = yield(*stand_ins)
        outputs = made.is_a?(Array) ? made : [made]
        list = list_of(outputs, "an output")
        Cooperation.wait_for { Native.graph_finish(handle, list) }
        stand_ins.each(&:close)
        graph = of(handle)
        graph.__send__(:gives, outputs.size, made.is_a?(Array))
        graph
      end

      def list_of(tensors, what) # :nodoc:
        tensors.each_with_object(Native::Tensor_list.new) do |tensor, list|
          list.add(Arguments.proxy_of(tensor, Tensor, what))
        end
      end

      private

      def stand_in(handle, like)
        own = Arguments.proxy_of(like, Tensor, "an input")
        Tensor.__send__(:of, Native.graph_input(handle, Native.tensor_dtype(own),
                                                Native.tensor_shape(own)))
      end
    end

    # Computes the outputs for these inputs, which have the number, types and
    # shapes that were recorded: a tensor, or an Array if the block returned one.
    # +deadline+ is in seconds; after it, raises WaitTimeoutError. Under a Fiber
    # scheduler other fibers run meanwhile.
    def run(*inputs, deadline: nil)
      handle = proxy
      list = self.class.list_of(inputs, "an input")
      limit = deadline.nil? ? 0 : Arguments.milliseconds(deadline, "deadline")
      made = Native::Tensor_list.new
      Cooperation.wait_for { Native.graph_compute_serving(handle, list, limit, made) }
      outputs = Array.new(@count) do |i|
        Tensor.__send__(:of, Native.tensor_of_list(made, i))
      end
      @several ? outputs : outputs.first
    end

    # :api: methods rc_graph

    private

    def gives(count, several)
      @count = count
      @several = several
    end
  end
end
