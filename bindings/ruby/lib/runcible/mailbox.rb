# frozen_string_literal: true

require "io/wait"

module Runcible
  # Where one request posts its events. Waiting for them is waiting for a
  # descriptor to become readable, which every Fiber scheduler can, and every
  # interrupt of a thread ends. No thread of the library ever runs Ruby.
  class Mailbox
    # As many as are kept when they are not needed.
    KEPT = 64

    @unused = []

    class << self
      # One that no request posts to.
      def take
        tries ||= 0
        @unused.pop || new
      rescue FileError
        # No descriptor could be had. Those of lost generations come back when
        # they are collected and the engine has done its step.
        raise if (tries += 1) > 100

        GC.start if tries == 1
        sleep 0.01
        retry
      end

      # For one whose request has told its end.
      def give_back(mailbox)
        @unused.push(mailbox) if @unused.size < KEPT
      end
    end

    def initialize
      @box = Native.mailbox_create
      @descriptor = IO.for_fd(Native.mailbox_descriptor(@box), autoclose: false)
    end

    # Yields the mailbox of the library to what starts a request there.
    def start
      yield @box
    end

    # All events that have come, in their order; never waits.
    def events
      Native.mailbox_take(@box)
    end

    # Waits until one may have come.
    def wait
      @descriptor.wait_readable
    end
  end
  private_constant :Mailbox
end
