# frozen_string_literal: true

module Runcible
  # Memory that a device copies numbers from and to by itself, without a copy in
  # between. Tensor.from_bytes, Tensor#read_into and Tensor.borrow accept its
  # IO::Buffer. It counts within the backend's memory_limit.
  #
  # The memory is freed when this object and the buffer are closed or collected.
  # Tensors that borrow the memory keep it longer.
  class Pinned < Handle
    # Makes room for +bytes+ bytes, at least 1, which are zero at first. The
    # +device+ is one of the backend's; "" is the one of its new tensors.
    # UnsupportedError: the device has no such memory, as those of webgpu.
    def initialize(backend, bytes, device = "")
      super()
      own(Native.pinned_make(Arguments.proxy_of(backend, Backend, "backend"), device, bytes))
      @buffer = Native.pinned_show(proxy)
      # The buffer, and each part of it, keeps the memory.
      @buffer.instance_variable_set(:@runcible_pinned, proxy)
    end

    # Returns the proxy of the pinned memory of a buffer; nil if it has none.
    def self.proxy_of(buffer) # :nodoc:
      buffer.instance_variable_get(:@runcible_pinned)
    end

    # Returns the memory: an IO::Buffer that stays locked.
    def buffer
      proxy
      @buffer
    end

    # Also frees the buffer; using it or a part of it then raises an error of
    # IO::Buffer.
    def close
      Native.pinned_hide(@buffer) unless closed?
      super
    end

    private

    def description
      " #{@buffer.size} bytes"
    end
  end
end
