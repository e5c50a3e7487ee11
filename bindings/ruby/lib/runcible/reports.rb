# frozen_string_literal: true

module Runcible
  # Reports of the library about devices, models and use.

  # The devices and unavailable backends of this machine.
  #
  # automatic:: the device that "auto" would choose, "cpu:0"; "" if there is none
  Discovery = Struct.new(:devices, :automatic, keyword_init: true) do
    include Enumerable

    def each(&block)
      return devices.each unless block

      devices.each(&block)
      self
    end
  end

  # :api: structs

  # Reports of the library as structs of Ruby.
  module Reports
    module_function

    # Copies the members of the same names, and those given.
    def copied(made, report, **given)
      values = made.members.to_h do |name|
        next [name, given[name]] if given.key?(name)

        value = report.public_send(name)
        [name, TRUTHS.include?(name) ? value == 1 : value]
      end
      values[:kind] = KINDS.fetch(report.kind, "other") if made == DeviceReport
      made.new(**values).freeze
    end

    # Makes a Plan from the library's handle, which reports devices and offers one
    # by one.
    def plan(handle)
      report = Native::Plan_report.new
      Native.plan_describe(handle, report)
      devices = Array.new(report.device_count) do |i|
        device = Native::Plan_device_report.new
        Native.plan_device(handle, i, device)
        copied(DevicePlan, device)
      end
      offers = Array.new(report.offer_count) do |i|
        offer = Native::Plan_offer_report.new
        Native.plan_offer(handle, i, offer)
        copied(PlanOffer, offer)
      end
      copied(Plan, report, devices: devices.freeze, offers: offers.freeze)
    end

    # Makes a Report from its numbers, in their order from `reason` on.
    def generation(numbers)
      reason, *rest = numbers
      values = [Native.end_reason_name(reason), *rest]
      Report.new(**Report.members.zip(values).to_h).freeze
    end
  end
  private_constant :Reports
end
