# frozen_string_literal: true

module Runcible
  # What the library reports: a class for each status. The message names the
  # values concerned.
  class Error < StandardError
    class << self
      # The number of the class's status.
      attr_reader :status

      # The exception of a status; of one that is not known, Error itself.
      def of_status(status, message)
        kind = ERRORS.fetch(status, Error)
        kind.new(message, status: status)
      end
    end

    # The number of the status.
    attr_reader :status

    # What had been done when a generation failed, a Report; else nil.
    attr_accessor :report

    def initialize(message = nil, status: self.class.status)
      super(message)
      @status = status
    end
  end

  # :header: RC_E_INVALID_ARGUMENT
  class InvalidArgumentError < Error; @status = -1; end

  # :header: RC_E_OUT_OF_MEMORY
  class OutOfMemoryError < Error; @status = -2; end

  # :header: RC_E_NOT_FOUND
  class NotFoundError < Error; @status = -3; end

  # :header: RC_E_IO
  class FileError < Error; @status = -4; end

  # :header: RC_E_FORMAT
  class FormatError < Error; @status = -5; end

  # :header: RC_E_UNSUPPORTED
  class UnsupportedError < Error; @status = -6; end

  # :header: RC_E_BACKEND_UNAVAILABLE
  class BackendUnavailableError < Error; @status = -7; end

  # :header: RC_E_DEVICE
  class DeviceError < Error; @status = -8; end

  # :header: RC_E_DEVICE_LOST
  class DeviceLostError < DeviceError; @status = -9; end

  # :header: RC_E_DEVICE_MEMORY
  class DeviceMemoryError < Error; @status = -10; end

  # :header: RC_E_TIMEOUT
  class WaitTimeoutError < Error; @status = -11; end

  # :header: RC_E_CANCELLED
  class CancelledError < Error; @status = -12; end

  # :header: RC_E_DEADLINE
  class DeadlineError < Error; @status = -13; end

  # :header: RC_E_CONTEXT_FULL
  class ContextFullError < Error; @status = -14; end

  # :header: RC_E_BUSY
  class BusyError < Error; @status = -15; end

  # :header: RC_E_QUOTA
  class QuotaError < Error; @status = -16; end

  # :header: RC_E_CLOSED
  class ClosedError < Error; @status = -17; end

  # :header: RC_E_ABI
  class AbiError < Error; @status = -18; end

  # :header: RC_E_INTERNAL
  class InternalError < Error; @status = -19; end

  ERRORS = constants.map { |name| const_get(name) }
                    .select { |it| it.is_a?(Class) && it < Error }
                    .to_h { |it| [it.status, it] }
                    .freeze
  private_constant :ERRORS
end
