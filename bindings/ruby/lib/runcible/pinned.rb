# frozen_string_literal: true

module Runcible
  # Memory that a device moves numbers from and to by itself, without a copy in between:
  # Tensor.from_bytes, Tensor#read_into and Tensor.borrow take its IO::Buffer. It counts
  # within the backend's memory_limit.
  #
  # The memory goes with this and the buffer, when both are closed or collected. Tensors
  # that were borrowed of it keep it longer.
  class Pinned < Handle
    # Room for so many bytes, at least 1, which are zero at first; the +device+ is one of
    # the backend's, "" is where its new tensors lie. UnsupportedError: the device has no
    # such memory, as those of webgpu.
    def initialize(backend, bytes, device = "")
      super()
      own(Native.pinned_make(Arguments.proxy_of(backend, Backend, "backend"), device, bytes))
      @buffer = Native.pinned_show(proxy)
      # Who has the buffer, or a part of it, has the memory.
      @buffer.instance_variable_set(:@runcible_pinned, proxy)
    end

    # The proxy of the pinned memory that a buffer shows, if it does.
    def self.proxy_of(buffer) # :nodoc:
      buffer.instance_variable_get(:@runcible_pinned)
    end

    # The memory: an IO::Buffer that stays locked.
    def buffer
      proxy
      @buffer
    end

    # Also frees the buffer; using it or a part of it raises an error of IO::Buffer then.
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
