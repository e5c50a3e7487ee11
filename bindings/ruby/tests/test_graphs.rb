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

  def test_recorded_tensors_have_no_numbers
    kept = nil
    graph = Runcible::Graph.record(BACKEND, tensor(1, 2)) do |x|
      kept = x.neg
      assert_equal [2], kept.shape
      assert_raises(Runcible::InvalidArgumentError) { kept.read }
      kept
    end
    assert_raises(Runcible::InvalidArgumentError) { kept.neg }
    assert_equal [-1.0, 2.0], graph.run(tensor(1, -2)).to_a
  end

  def test_graphs_refuse_invalid_arguments
    x = tensor(1, 2)
    y = tensor(1, 2, 3)
    error = assert_raises(Runcible::InvalidArgumentError) do
      Runcible::Graph.record(BACKEND, x) { |a| a + y }
    end
    assert_includes error.message, "[3]"
    assert_raises(ZeroDivisionError) { Runcible::Graph.record(BACKEND, x) { 1 / 0 } }
    error = assert_raises(TypeError) { Runcible::Graph.record(BACKEND, x) { 1 } }
    assert_includes error.message, "an output must be a Runcible::Tensor"
    assert_raises(TypeError) { Runcible::Graph.record(BACKEND, [1.0], &:neg) }
    graph = Runcible::Graph.record(BACKEND, x, &:neg)
    assert_raises(Runcible::InvalidArgumentError) { graph.run(y) }
    assert_raises(TypeError) { graph.run(1) }
    graph.close
    assert_raises(Runcible::ClosedError) { graph.run(x) }
  end

  def test_fibers_run_a_graph_concurrently
    graph = Runcible::Graph.record(BACKEND, tensor(0, 0)) { |x| x + x }
    found = {}
    Scheduler.run do
      (1..6).each do |i|
        Fiber.schedule { found[i] = graph.run(tensor(i, 1)).to_a }
      end
    end
    assert_equal((1..6).to_h { |i| [i, [2.0 * i, 2.0]] }, found)
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

  # Makes a session that has begun a text, on a separate backend, yields the
  # backend to switch it, and checks that the text goes on as it does on the other
  # device.
  def check_switch
    greedy = { max_tokens: 8, temperature: 0, ignore_eos: true }
    backend = Runcible::Backend.new("cpu")
    session = Runcible::Model.new("builtin:fable", backend, context_length: 128).session
    there = Runcible::Model.new("builtin:fable", "reference", context_length: 128)
    session.generate("The fox", **greedy).text
    expected = session.migrate(there).generate("", **greedy).text
    yield backend
    assert_equal "reference:0", backend.device.id
    assert_equal expected, session.generate("", **greedy).text
  end

  def test_switch_moves_the_backend
    check_switch do |backend|
      fractions = []
      assert_nil(backend.switch("reference", wait: 60) { |fraction| fractions << fraction })
      assert_includes fractions, 1.0
      assert_raises(Runcible::NotFoundError) { backend.switch("nothing") }
      assert_raises(ArgumentError) { backend.switch("cpu", threads: 1) }
      error = assert_raises(RuntimeError) { backend.switch("cpu") { raise "not now" } }
      assert_equal "not now", error.message
    end
    closed = Runcible::Backend.new("cpu")
    closed.close
    assert_raises(Runcible::ClosedError) { closed.switch("cpu") }
  end

  def test_other_fibers_run_while_one_switches
    check_switch do |backend|
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
