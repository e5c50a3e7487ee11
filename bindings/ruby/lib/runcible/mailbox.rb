# frozen_string_literal: true

require "io/wait"

module Runcible
  # Receives the events of one request. Waiting for them is waiting for a
  # descriptor to become readable, which every Fiber scheduler supports, and which
  # every interrupt of a thread ends. No thread of the library ever runs Ruby.
  class Mailbox
    # The most mailboxes that are kept for later requests.
    KEPT = 64

    @unused = []

    class << self
      # Returns a mailbox that no request posts to.
      def take
        tries ||= 0
        @unused.pop || new
      rescue FileError
        # No descriptor was available. Those of lost generations are returned when
        # they are collected and the engine has done its step.
        raise if (tries += 1) > 100

        GC.start if tries == 1
        sleep 0.01
        retry
      end

      # Keeps a mailbox whose request has ended for later.
      def give_back(mailbox)
        @unused.push(mailbox) if @unused.size < KEPT
      end
    end

    def initialize
      @box = Native.mailbox_create
      @descriptor = IO.for_fd(Native.mailbox_descriptor(@box), autoclose: false)
    end

    # Yields the library's mailbox to a block that starts a request there.
    def start
      yield @box
    end

    # Returns all events that have arrived, in their order; never waits.
    def events
      Native.mailbox_take(@box)
    end

    # Waits until an event may have arrived.
    def wait
      @descriptor.wait_readable
    end
  end
  private_constant :Mailbox
end
