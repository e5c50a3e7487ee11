# frozen_string_literal: true

require "json"

module Runcible
  # :header: rc_backend
  class Backend < Handle
    # :header: rc_backend_open
    #
    # :header: rc_backend_options
    #
    # tenant:: The Tenant to which the backend belongs; nil: a separate one without
    #          limits.
    #
    # Under a Fiber scheduler other fibers run while it opens. The block receives
    # the fraction done. An exception in the block, or the end of the fiber that
    # waits, ends the opening.
    def initialize(spec = nil, tenant: nil, **options, &progress)
      super()
      options = self.class.options(**options)
      options.set_tenant(Arguments.proxy_of(tenant, Tenant, "tenant")) unless tenant.nil?
      own(Cooperation.wait_for { Native.open_backend(spec, options, progress) })
    end

    def self.options( # :nodoc:
      # :api: keywords rc_backend_options
    )
      Arguments.set(
        Native::Backend_options.new,
        # :api: values rc_backend_options
      )
    end

    # :header: rc_backend_switch
    #
    # :header: rc_backend_switch_options
    #
    # Under a Fiber scheduler other fibers run while it switches. The block
    # receives the fraction done. An exception in the block, or the end of the
    # fiber that waits, ends the switch and leaves everything as it was.
    def switch(spec = nil, **options, &progress)
      handle = proxy
      options = self.class.switch_options(**options)
      Cooperation.wait_for { Native.switch_backend(handle, spec, options, progress) }
      nil
    end

    def self.switch_options( # :nodoc:
      # :api: keywords rc_backend_switch_options
    )
      Arguments.set(
        Native::Backend_switch_options.new,
        # :api: values rc_backend_switch_options
      )
    end

    # Returns a backend, or opens one by its name.
    def self.from(backend) # :nodoc:
      case backend
      when Backend then backend
      when nil, String then new(backend)
      else
        raise TypeError,
              "backend must be a Runcible::Backend or a String, not #{backend.class}"
      end
    end

    # :api: methods rc_backend

    private

    def description
      " #{device.id}"
    end
  end

  # :header: rc_discover
  #
  # Under a Fiber scheduler other fibers run while it looks for devices. The end
  # of the fiber that waits, or another interrupt of the thread that raises, ends
  # it.
  def self.discover
    found = Cooperation.wait_for { Native.discover }
    devices = Array.new(Native.device_list_count(found)) do |i|
      report = Native::Device_report.new
      Native.device_list_get(found, i, report)
      Reports.copied(DeviceReport, report)
    end
    automatic = Native.device_list_automatic(found)
    Discovery.new(devices: devices.freeze, automatic: automatic).freeze
  end
end
