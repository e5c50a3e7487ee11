# frozen_string_literal: true

require "json"

module Runcible
  # :header: rc_backend
  class Backend < Handle
    # :header: rc_backend_open
    #
    # :header: rc_backend_options
    #
    # +timeout+ is the library's +timeout_ms+, in seconds.
    def initialize(spec = nil, required_memory: nil, memory_limit: nil,
                   threads: nil, max_requests: nil, timeout: nil, strict: nil,
                   profile: nil)
      super()
      options = Arguments.set(
        Native::Backend_options.new,
        required_memory: required_memory, memory_limit: memory_limit,
        threads: threads, max_requests: max_requests,
        timeout_ms: Arguments.milliseconds(timeout, "timeout"),
        strict: strict, profile: profile
      )
      own(Cooperation.wait_for { Native.backend_open(spec, options) })
    end

    # A backend itself, or one that is opened by what it is called.
    def self.from(backend) # :nodoc:
      case backend
      when Backend then backend
      when nil, String then new(backend)
      else
        raise TypeError,
              "backend must be a Runcible::Backend or a String, not #{backend.class}"
      end
    end

    # :header: rc_backend_explain
    def explain
      JSON.parse(Native.backend_explain(proxy))
    end

    # :header: rc_backend_device
    def device
      report = Native::Device_report.new
      handle = proxy
      Native.backend_device(handle, report)
      Reports.device(report)
    end

    # :header: rc_backend_usage_report
    def usage
      report = Native::Backend_usage_report.new
      Native.backend_usage(proxy, report)
      Reports.copied(Usage, report)
    end

    # :header: rc_backend_trace
    def trace
      JSON.parse(Native.backend_trace(proxy))
    end

    private

    def description
      " #{device.id}"
    end
  end

  # :header: rc_discover
  def self.discover
    found = Cooperation.wait_for { Native.discover }
    devices = Array.new(Native.device_list_count(found)) do |i|
      report = Native::Device_report.new
      Native.device_list_get(found, i, report)
      Reports.device(report)
    end
    automatic = Native.device_list_automatic(found)
    Discovery.new(devices: devices.freeze, automatic: automatic).freeze
  end
end
