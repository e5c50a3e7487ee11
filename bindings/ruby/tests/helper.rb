# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "rbconfig"
require "runcible"

# Ends a test that hangs, and prints where.
Minitest::Test.prepend(Module.new do
  def run
    watch = Thread.new(Thread.current) do |tested|
      sleep 900
      warn "#{self.class}##{name} hangs:", tested.backtrace
      exit! 1
    end
    super
  ensure
    watch.kill
  end
end)

module Helper
  def self.model
    @model ||= Runcible::Model.new("builtin:fable", "cpu")
  end

  def model
    Helper.model
  end

  # Runs a separate Ruby; returns its output, errors and status.
  def run_ruby(program)
    Open3.capture3(RbConfig.ruby, "-w", "-e", program)
  end

  # Runs a program that must succeed and print this.
  def assert_prints(expected, program)
    output, errors, status = run_ruby(program)
    assert_equal [expected, "", 0], [output, errors, status.exitstatus || status.to_s]
  end
end
