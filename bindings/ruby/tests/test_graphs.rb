# frozen_string_literal: true

# Graphs, and opening backends while other fibers and threads run.
require "timeout"
require_relative "helper"
require_relative "scheduler"

class TestGraphs < Minitest::Test
  include Helper

  BACKEND = Runcible::Backend.new("cpu")

  def tensor(*numbers)
    Runcible::Tensor.new(numbers, BACKEND)
  end

  def test_graphs_refuse_invalid_arguments
    x = tensor(1, 2)
    assert_raises(ZeroDivisionError) { Runcible::Graph.record(BACKEND, x) { 1 / 0 } }
    error = assert_raises(TypeError) { Runcible::Graph.record(BACKEND, x) { 1 } }
    assert_includes error.message, "an output must be a Runcible::Tensor"
    assert_raises(TypeError) { Runcible::Graph.record(BACKEND, [1.0], &:neg) }
    graph = Runcible::Graph.record(BACKEND, x, &:neg)
    assert_raises(TypeError) { graph.run(1) }
  end

  def test_deadline_and_cancel_end_a_run
    endless = Runcible::CustomOp.new(
      name: "endless", signature: "x F32 [n] -> y F32 [n]",
      library: ENV.fetch("RUNCIBLE_CUSTOM_OP")
    )
    x = tensor(1, 2)
    graph = Runcible::Graph.record(BACKEND, x) { |y| endless.call(y) }
    # No deadline passes before its time.
    { 0.0012 => " 2 ms", 0.007 => " 7 ms" }.each do |deadline, text|
      error = assert_raises(Runcible::WaitTimeoutError) { graph.run(x, deadline: deadline) }
      assert_includes error.message, text
    end
    thread = Thread.new { graph.run(x) }
    thread.report_on_exception = false
    graph.cancel until thread.join(0.01) || !thread.alive?
  rescue Runcible::CancelledError
    assert true
  else
    flunk "the run went on to its end"
  end

  def test_other_fibers_run_while_one_opens_a_backend
    order = []
    Scheduler.run do
      Fiber.schedule do
        order << :begins
        Runcible::Backend.new("cpu", threads: 1) { |fraction| order << fraction }
        order << :open
      end
      Fiber.schedule { order << :other }
      Fiber.schedule { assert_includes Runcible.discover.map(&:id), "cpu:0" }
    end
    assert_operator order.index(:other), :<, order.index(:open)
    assert_includes order, 1.0
  end

  def test_exception_in_the_block_ends_an_opening
    error = assert_raises(RuntimeError) { Runcible::Backend.new("cpu") { raise "enough" } }
    assert_equal "enough", error.message
    assert_equal "cpu:0", Runcible::Backend.new("cpu").device.id
  end

  def test_switch_reports_progress
    backend = Runcible::Backend.new("cpu")
    kept = Runcible::Model.new("builtin:fable", backend)
    fractions = []
    assert_nil(backend.switch("reference") { |fraction| fractions << fraction })
    assert_includes fractions, 1.0
    assert_raises(ArgumentError) { backend.switch("cpu", threads: 1) }
    error = assert_raises(RuntimeError) { backend.switch("cpu") { raise "not now" } }
    assert_equal "not now", error.message
    assert_equal "reference:0", kept.report.device
  end

  def test_other_fibers_run_while_one_switches
    backend = Runcible::Backend.new("cpu")
    order = []
    Scheduler.run do
      Fiber.schedule do
        order << :begins
        backend.switch("reference")
        order << :switched
      end
      Fiber.schedule { order << :other }
    end
    assert_equal %i[begins other switched], order
  end

  def test_interrupt_ends_a_discovery
    thread = Thread.new { loop { Runcible.discover } }
    sleep 0.01
    thread.kill
    assert thread.join(60)
    # A signal handler raises nothing, and the discovery goes on.
    signals = 0
    before = trap("USR1") { signals += 1 }
    begin
      killer = Thread.new { 5.times { Process.kill("USR1", Process.pid) and sleep 0.001 } }
      assert_includes Runcible.discover.map(&:id), "cpu:0"
    ensure
      # The default handler would end the process.
      killer&.join
      trap("USR1", before || "DEFAULT")
    end
    assert_operator signals, :>, 0
  end
end
