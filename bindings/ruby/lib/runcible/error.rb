# frozen_string_literal: true

require "timeout"

module Runcible
  # What the library reports: a class for each status. The message names the
  # values concerned.
  #
  # Each class is Ruby's own of the same meaning too, such as ArgumentError or
  # Errno::ENOENT, and a RuntimeError where there is none. +rescue
  # Runcible::Error+, a module, rescues them all.
  module Error
    # Of each class.
    module Status
      # The number of the class's status.
      def status
        @status || superclass.status
      end
    end

    def self.included(kind)
      super
      kind.extend(Status)
    end

    # The exception of a status; of one that is not known, an OtherError.
    def self.of_status(status, message)
      ERRORS.fetch(status, OtherError).new(message, status: status)
    end

    # The number of the status.
    attr_reader :status

    # What had been done when a generation failed, a Report; else nil.
    attr_accessor :report

    def initialize(message = nil, status: self.class.status)
      super(message)
      @text = message
      @status = status
    end

    # The message; SystemCallError would begin with the system's.
    def to_s
      @text || super
    end
  end

  # A status of a library that is newer than this.
  class OtherError < RuntimeError
    include Error
    @status = 0
  end

  # :api: errors

  # What the system says of its errors, which ends the message of a FileError.
  SYSTEM_ERRORS = ::Errno.constants
                         .map { |name| ::Errno.const_get(name) }
                         .select { |it| it.is_a?(Class) && it < SystemCallError }
                         .to_h { |it| [it.new.message, it::Errno] }
                         .freeze
  private_constant :SYSTEM_ERRORS

  class FileError
    # The number of the system's error.
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
