# frozen_string_literal: true

module Runcible
  # What the library tells about devices, models and use.

  # :header: rc_device_report
  DeviceReport = Struct.new(
    :backend, :description, :index, :kind, :id, :name, :reason, :total_memory,
    :free_memory, :unified_memory, :cores, :features, :driver, :physical_id,
    keyword_init: true
  )

  # The devices and unavailable backends of this machine.
  #
  # automatic:: what "auto" would choose, "cpu:0"; "" if there is nothing
  Discovery = Struct.new(:devices, :automatic, keyword_init: true) do
    include Enumerable

    def each(&block)
      return devices.each unless block

      devices.each(&block)
      self
    end
  end

  # :header: rc_backend_usage_report
  Usage = Struct.new(
    :requests, :prompt_tokens, :cached_tokens, :generated_tokens, :compute_us,
    :memory, :peak_memory, keyword_init: true
  )

  # :header: rc_plan_device_report
  DevicePlan = Struct.new(
    :device, :weights, :cache, :scratch, :total, :available, :first_layer,
    :layers, :embedding, :output, keyword_init: true
  )

  # :header: rc_plan_report
  #
  # devices:: of DevicePlan; the first is the opened one, even if nothing fits
  #           there
  Plan = Struct.new(
    :weights, :cache, :scratch, :total, :available, :fits, :context_length,
    :cache_tokens, :largest_context, :transfers, :devices, keyword_init: true
  )

  # :header: rc_model_report
  ModelReport = Struct.new(
    :architecture, :name, :device, :context_length, :trained_context_length,
    :vocabulary, :width, :layers, :parameters, :weight_bytes, :cache_bytes,
    :scratch_bytes, :cache_tokens, :page_size, keyword_init: true
  )

  # :header: rc_tokenizer_report
  TokenizerReport = Struct.new(
    :kind, :vocabulary, :bos, :eos, :unknown, keyword_init: true
  )

  # :header: rc_generate_report
  #
  # reason:: "stop", "length", "stop string", "cancelled", "deadline",
  #          "context" or "error"
  Report = Struct.new(
    :reason, :seed, :prompt_tokens, :cached_tokens, :generated_tokens,
    :queue_us, :prompt_us, :generate_us, keyword_init: true
  )

  # Reports of the library as structs of Ruby.
  module Reports
    KINDS = {
      Native::DEVICE_OTHER => "other",
      Native::DEVICE_CPU => "cpu",
      Native::DEVICE_GPU_DISCRETE => "discrete GPU",
      Native::DEVICE_GPU_INTEGRATED => "integrated GPU",
      Native::DEVICE_ACCELERATOR => "accelerator",
      Native::DEVICE_SOFTWARE => "software"
    }.freeze
    TRUTHS = %i[unified_memory embedding output fits].freeze

    module_function

    # The members of the same names, and those given.
    def copied(made, report, **given)
      values = made.members.to_h do |name|
        next [name, given[name]] if given.key?(name)

        value = report.public_send(name)
        [name, TRUTHS.include?(name) ? value == 1 : value]
      end
      made.new(**values).freeze
    end

    def device(report)
      copied(DeviceReport, report, kind: KINDS.fetch(report.kind, "other"))
    end

    # Of the library's handle, whose devices are told one by one.
    def plan(handle)
      report = Native::Plan_report.new
      Native.plan_describe(handle, report)
      devices = Array.new(report.device_count) do |i|
        device = Native::Plan_device_report.new
        Native.plan_device(handle, i, device)
        copied(DevicePlan, device)
      end
      copied(Plan, report, devices: devices.freeze)
    end

    # Of its numbers, in their order from `reason` on.
    def generation(numbers)
      reason, *rest = numbers
      values = [Native.end_reason_name(reason), *rest]
      Report.new(**Report.members.zip(values).to_h).freeze
    end
  end
  private_constant :Reports
end
