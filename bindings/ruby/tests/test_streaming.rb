# frozen_string_literal: true

# Generations under a Fiber scheduler: the one of these tests, and the gem async.
require "timeout"
require_relative "helper"
require_relative "scheduler"

class TestStreaming < Minitest::Test
  include Helper

  ENDLESS = { ignore_eos: true }.freeze

  def endless
    model.session(when_full: :shift).generate("A", **ENDLESS)
  end

  # Ends only if no generation keeps the others from their pieces.
  def test_fibers_take_turns
    pieces = [0] * 4
    generations = pieces.map { endless }
    Scheduler.run do
      generations.each_with_index do |generation, i|
        Fiber.schedule do
          assert_raises(Runcible::CancelledError) do
            generation.each do
              pieces[i] += 1
              generations.each(&:cancel) if pieces.all? { |count| count >= 5 }
            end
          end
        end
      end
    end
    assert(generations.all? { |generation| generation.report.reason == "cancelled" })
  end

  def test_other_fibers_run_while_one_waits
    ticks = 0
    Scheduler.run do
      generation = endless
      Fiber.schedule do
        5.times do
          sleep 0.001
          ticks += 1
        end
        generation.cancel
      end
      assert_raises(Runcible::CancelledError) { generation.each { |piece| piece } }
    end
    assert_equal 5, ticks
  end

  def test_other_fibers_run_while_one_loads_and_decodes
    ticks = 0
    Scheduler.run do
      going = true
      Fiber.schedule do
        while going
          sleep 0.001
          ticks += 1
        end
      end
      Runcible::Model.open("builtin:fable", "reference") do |slow|
        session = slow.session.append("A fox")
        session.decode
        saved = session.save_bytes
        assert_equal session.tokens, Runcible::Session.restore_bytes(slow, saved).tokens
      end
      going = false
    end
    assert_operator ticks, :>, 0
  end

  def test_exception_in_a_fiber_closes_its_generation
    error = assert_raises(KeyError) do
      Scheduler.run do
        session = model.session(when_full: :shift)
        begin
          session.generate("A", **ENDLESS) { |_| raise KeyError, "mine" }
        ensure
          session.append("B") # not busy any more
        end
      end
    end
    assert_equal "mine", error.message
  end

  def test_fibers_share_a_generation
    counts = [0, 0]
    Scheduler.run do
      generation = model.session(when_full: :shift).generate("A", max_tokens: 100, **ENDLESS)
      2.times do |i|
        Fiber.schedule do
          loop { counts[i] += generation.next.tokens.size }
        end
      end
    end
    assert_equal 100, counts.sum
  end

  def test_leaving_a_generation_cancels_it
    Scheduler.run do
      generation = endless
      generation.first(2)
      assert_equal "cancelled", generation.report.reason
    end
  end

  def test_a_hundred_fibers_generate
    done = 0
    Scheduler.run do
      100.times do |i|
        Fiber.schedule do
          model.session(context_length: 32).generate("A", seed: i, max_tokens: 3).text
          done += 1
        end
      end
    end
    assert_equal 100, done
  end

  def test_async_tasks_generate_and_stop
    begin
      require "async"
    rescue LoadError
      skip "there is no gem async"
    end
    texts = nil
    stopped = endless
    Sync do |task|
      tasks = (0..2).map do |i|
        task.async { model.session.generate("A", seed: i, max_tokens: 20).text }
      end
      listener = task.async { stopped.each { |piece| piece } }
      task.sleep 0.01
      listener.stop
      texts = tasks.map(&:wait)
    end
    assert_equal "cancelled", stopped.report.reason
    texts.each_with_index do |text, i|
      assert_equal model.session.generate("A", seed: i, max_tokens: 20).text, text
    end
  end

  def test_timeout_cancels_without_a_scheduler
    generation = endless
    assert_raises(Timeout::Error) do
      Timeout.timeout(0.05) { generation.each { |piece| piece } }
    end
    assert_equal "cancelled", generation.report.reason
  end

  def test_killing_a_thread_cancels_its_generation
    generation = endless
    begun = Thread::Queue.new
    thread = Thread.new { generation.each { |_| begun << true } }
    begun.pop
    thread.kill.join
    assert_equal "cancelled", generation.report.reason
  end

  def test_other_threads_run_while_one_waits
    slow = Runcible::Model.new("builtin:fable", "reference")
    ticks = 0
    ticking = Thread.new do
      loop do
        sleep 0.001
        ticks += 1
      end
    end
    # On a busy machine the other thread may not get its turn at once.
    200.times do
      before = ticks
      slow.session.append("A fox " * 40).decode
      break if ticks > before + 3
    end
    ticking.kill
    assert_operator ticks, :>, 3
  end
end
