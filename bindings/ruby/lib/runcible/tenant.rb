# frozen_string_literal: true

require "json"

module Runcible
  # :header: rc_tenant
  class Tenant < Handle
    # :header: rc_tenant_create
    #
    # :header: rc_tenant_options
    def initialize(**options)
      super()
      own(Native.tenant_create(self.class.options(**options)))
    end

    # :header: rc_tenant_change
    #
    # The options are those of Tenant.new.
    def change(**options)
      Native.tenant_change(proxy, self.class.options(**options))
      nil
    end

    def self.options( # :nodoc:
      # :api: keywords rc_tenant_options
    )
      Arguments.set(
        Native::Tenant_options.new,
        # :api: values rc_tenant_options
      )
    end

    # :header: RC_METRICS_JSON
    def metrics
      JSON.parse(Native.tenant_metrics(proxy, Native::METRICS_JSON))
    end

    # :header: RC_METRICS_OPENMETRICS
    def open_metrics
      Native.tenant_metrics(proxy, Native::METRICS_OPENMETRICS)
    end

    # :header: rc_tenant_bill
    #
    # +prices+ and +since+ are Hashes or JSON.
    def bill(prices, since = nil)
      prices = JSONText.of(prices, :prices)
      since = JSONText.of(since, :since) unless since.nil?
      JSON.parse(Native.tenant_bill(proxy, prices, since))
    end

    # :api: methods rc_tenant

    private

    def description
      " #{metrics["tenants"].first["name"].inspect}"
    end
  end

  # Returns a snapshot of all tenants of the process that still exist, in the form
  # of Tenant#metrics. Tenants with the same name are added up.
  def self.metrics
    JSON.parse(Native.all_tenant_metrics(Native::METRICS_JSON))
  end

  # Returns the same numbers in the text format of OpenMetrics.
  def self.open_metrics
    Native.all_tenant_metrics(Native::METRICS_OPENMETRICS)
  end
end
