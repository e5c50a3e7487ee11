# frozen_string_literal: true

module Runcible
  # A piece of text that is final: a String with its tokens. All pieces in order
  # are the whole text.
  class Piece < String
    # The tokens generated since the last piece.
    attr_reader :tokens

    # With the option +logprobs+: [token, natural logarithm of its probability]
    # for each token; else nil.
    attr_reader :logprobs

    # With the same option: for each token the most probable tokens at its
    # position, most probable first.
    attr_reader :top_logprobs

    def initialize(text, tokens, logprobs = nil, top_logprobs = nil)
      super(text)
      @tokens = tokens
      @logprobs = logprobs
      @top_logprobs = top_logprobs
    end
  end

  # Text that the model thinks before it answers.
  class Reasoning < Piece
  end

  # A complete call of a tool: its +id+, which the result names as "tool_call_id",
  # the +name+ of the tool, and the +arguments+, a Hash.
  ToolCall = Struct.new(:id, :name, :arguments)

  # The pieces of a text as they arrive. Waiting for one cooperates with the
  # thread's Fiber scheduler, if it has one, and otherwise blocks the thread,
  # which may be interrupted (Thread#kill, Timeout).
  #
  # If a generation does not succeed, the error is raised after the last piece:
  # DeadlineError, CancelledError, ... Leaving +each+ early closes the generation;
  # a generation that is no longer referenced is cancelled. If a fiber has read a
  # generation by +next+, using the session again in that fiber ends the
  # generation; reading it further raises CancelledError. Threads and fibers may
  # share a generation; each piece goes to one of them.
  class Generation
    include Enumerable

    # The Report of the end; nil before the end.
    attr_reader :report

    def initialize(&) # :nodoc:
      @lock = Mutex.new
      @pieces = []
      mailbox = Mailbox.take
      begin
        @request = mailbox.start(&)
      rescue StandardError
        Mailbox.give_back(mailbox)
        raise
      end
      @mailbox = mailbox
    end

    # Yields each piece. Without a block, returns an Enumerator; see also #next.
    def each
      return to_enum unless block_given?

      begin
        while (piece = take)
          yield piece
        end
      ensure
        close
      end
      self
    end

    # Returns the next piece; raises StopIteration after the last.
    def next
      take or raise StopIteration, "the generation has ended"
    end

    # Returns the rest of the text.
    def text
      to_a.join
    end

    # :header: rc_request_cancel
    #
    # CancelledError is raised after the last piece.
    def cancel
      Native.request_cancel(@request) unless ended?
      nil
    end

    # Cancels and waits for the end; pieces not yet read are dropped.
    def close
      @closed = true
      return if ended?

      cancel
      @lock.synchronize do
        receive until ended?
        @pieces.clear
      end
      nil
    end

    # Returns true if the fiber that calls it has left the generation, or the
    # fiber that read it has ended.
    def left? # :nodoc:
      !ended? && !@reader.nil? && (@reader.equal?(Fiber.current) || !@reader.alive?)
    end

    # Cancels and waits for the end; reading further raises the error of the end.
    def leave # :nodoc:
      cancel
      @lock.synchronize { receive until ended? }
    end

    def ended?
      !@report.nil?
    end

    def inspect
      "#<#{self.class}#{ended? ? ", #{@report.reason}" : ""}>"
    end

    private

    # Returns the next piece, nil after the last. If the generation failed, raises
    # once.
    def take
      @reader = Fiber.current
      @lock.synchronize do
        receive while @pieces.empty? && !ended?
        return @pieces.shift unless @pieces.empty?
      end
      error, @error = @error, nil
      raise error if error && !@closed
    end

    # Takes the events that have arrived, or waits until there may be one.
    def receive
      return unless take_events.zero?

      @mailbox.wait
    end

    # An interrupt may not come between taking an event and keeping it.
    def take_events
      Thread.handle_interrupt(Object => :never) do
        events = @mailbox.events
        events.each { |event| keep(*event) }
        events.size
      end
    end

    # Makes the part of an answer from an event; see values.h.
    def part(text, what, *more)
      return Piece.new(text, *more) if what.nil?
      return Reasoning.new(text, *more) if what == true

      ToolCall.new(*what, JSON.parse(text))
    end

    def keep(text, *rest)
      return @pieces << part(text, *rest) if text

      status, message, numbers = rest
      report = Reports.generation(numbers)
      unless status == Native::OK
        message = "the request ended: #{report.reason}" if message.empty?
        @error = Error.of_status(status, message)
        @error.report = report
      end
      Mailbox.give_back(@mailbox)
      @mailbox = nil
      @report = report
    end
  end
end
