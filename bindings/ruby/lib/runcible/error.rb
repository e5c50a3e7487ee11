# frozen_string_literal: true

require "timeout"

module Runcible
  # The errors of the library: a class for each status. The message names the
  # values concerned.
  #
  # Each class inherits from Ruby's own exception of the same meaning, such as
  # ArgumentError or Errno::ENOENT, or else from RuntimeError. +rescue
  # Runcible::Error+, a module, rescues them all.
  module Error
    # Methods of each class.
    module Status
      # Returns the number of the class's status.
      def status
        @status || superclass.status
      end
    end

    def self.included(kind)
      super
      kind.extend(Status)
    end

    # Makes the exception of a status; an OtherError if the status is not known.
    def self.of_status(status, message, retry_after = nil)
      ERRORS.fetch(status, OtherError)
            .new(message, status: status, retry_after: retry_after)
    end

    # The number of the status.
    attr_reader :status

    # The seconds after which to try again; nil: not known.
    attr_reader :retry_after

    # The Report of the work done before a generation failed; nil for other calls.
    attr_accessor :report

    def initialize(message = nil, status: self.class.status, retry_after: nil)
      super(message)
      @text = message
      @status = status
      @retry_after = retry_after
    end

    # Returns the message; SystemCallError would put the system's message before
    # it.
    def to_s
      @text || super
    end
  end

  # An error with the status of a newer library.
  class OtherError < RuntimeError
    include Error
    @status = 0
  end

  # :api: errors

  # The system's messages of its errors, one of which ends the message of a
  # FileError.
  SYSTEM_ERRORS = ::Errno.constants
                         .map { |name| ::Errno.const_get(name) }
                         .select { |it| it.is_a?(Class) && it < SystemCallError }
                         .to_h { |it| [it.new.message, it::Errno] }
                         .freeze
  private_constant :SYSTEM_ERRORS

  class FileError
    # Returns the number of the system's error.
    def errno
      SYSTEM_ERRORS.fetch(message[/[^:]*\z/].strip, super)
    end
  end

  ERRORS = constants.map { |name| const_get(name) }
                    .select { |it| it.is_a?(Class) && it < Error && it.status != 0 }
                    .to_h { |it| [it.status, it] }
                    .freeze
  private_constant :ERRORS
end
