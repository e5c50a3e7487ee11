# frozen_string_literal: true

# Wrong types, closed objects, threads, forks, exits: no crash, no hang.
require "English"
require "tmpdir"
require_relative "helper"

class TestFaults < Minitest::Test
  include Helper

  def endless
    model.session(when_full: :shift).generate("A", ignore_eos: true)
  end

  WRONG_TYPES = [
    ->(_) { Runcible::Session.new("model") },
    ->(model) { model.session(when_full: 7) },
    ->(model) { Runcible::Backend.new("cpu", tenant: model) },
    ->(_) { Runcible::Tensor.new(["a"], Runcible::Backend.new("cpu")) },
    ->(_) { Runcible::Tensor.new(7, Runcible::Backend.new("cpu")) },
    ->(model) { Runcible::Native.session_decode(model.proxy, 0) },
    ->(_) { Runcible::Native.backend_explain("a") },
    ->(_) { Runcible::Native.drop(7) },
    ->(model) { model.dup },
    ->(model) { Marshal.dump(model) }
  ].freeze

  def test_wrong_types_raise_type_error
    WRONG_TYPES.each_with_index do |wrong, i|
      assert_raises(TypeError, "the wrong type #{i}") { wrong.call(model) }
    end
  end

  WRONG_VALUES = [
    ->(model) { model.session.generate("A", deadline: Float::NAN) },
    ->(model) { model.session.generate("A", nonsense: 1) },
    ->(_) { Runcible::Tensor.new([[1], [2, 3]], Runcible::Backend.new("cpu")) },
    ->(_) { Runcible::Tensor.zeros([1], Runcible::Backend.new("cpu"), dtype: :f99) },
    ->(model) { model.tokenize("\xD8".dup.force_encoding("UTF-16LE")) },
    ->(_) { Runcible::Native.session_position(nil) }
  ].freeze

  def test_wrong_values_raise_errors_with_messages
    WRONG_VALUES.each_with_index do |wrong, i|
      error = assert_raises(ArgumentError, RangeError, EncodingError, Runcible::InvalidArgumentError,
                            "the wrong value #{i}") { wrong.call(model) }
      refute_empty error.message
    end
  end

  def test_closed_session_is_inspected
    session = model.session
    session.close
    assert session.closed?
    assert_match(/closed/, session.inspect)
  end

  def test_uninitialised_objects_do_no_harm
    [Runcible::Session, Runcible::Model, Runcible::Tensor, Runcible::Backend].each do |kind|
      assert_raises(Runcible::ClosedError) { kind.allocate.proxy }
      assert kind.allocate.closed?
      kind.allocate.close
    end
    options = Runcible::Native::Generate_options.allocate
    assert_raises(StandardError) { options.set_prompt("A") }
    GC.start
  end

  def test_objects_are_collected_in_any_order
    6.times do
      backend = Runcible::Backend.new("cpu")
      model = Runcible::Model.new("builtin:fable", backend)
      session = model.session
      [session.fork, session.generate("A", ignore_eos: true), model.tokenizer]
      model.session.generate("B").next
      GC.start
    end
    GC.start
  end

  def test_calls_survive_stress_of_the_collector
    assert_prints "done\n", <<~RUBY
      require "runcible"
      model = Runcible::Model.new("builtin:fable", "cpu")
      GC.stress = true
      session = model.session
      session.generate("A", max_tokens: 2, stop: ["x"], logit_bias: { 5 => -1.0 }, logprobs: 1).text
      session.append([5, 6]).decode.logits_bytes
      model.detokenize(model.tokenize("A"))
      Runcible::Tensor.new([[1, 2]], model.backend).to_a
      GC.stress = false
      puts "done"
    RUBY
  end

  def test_exception_in_each_closes_the_generation
    session = model.session(when_full: :shift)
    generation = session.generate("A", ignore_eos: true)
    assert_raises(KeyError) { generation.each { raise KeyError } }
    assert_equal "cancelled", generation.report.reason
    session.append("B")
  end

  def test_generation_of_another_thread_is_not_left
    session = model.session(when_full: :shift)
    generation = session.generate("A", ignore_eos: true)
    reading = Queue.new
    thread = Thread.new do
      generation.next
      reading << true
      Thread.stop
    end
    reading.pop
    assert_raises(Runcible::BusyError) { session.append("B") }
    thread.kill.join # which leaves it
    session.append("B")
  end

  def test_errors_inherit_from_exceptions_of_ruby
    kinds = {
      InvalidArgumentError: ArgumentError, NotFoundError: Errno::ENOENT,
      FileError: SystemCallError, WaitTimeoutError: Timeout::Error,
      DeadlineError: Timeout::Error, ClosedError: IOError
    }
    Runcible.constants.each do |name|
      kind = Runcible.const_get(name)
      next unless kind.is_a?(Class) && kind < Runcible::Error

      assert_operator kind, :<, kinds.fetch(name, RuntimeError)
      assert_operator kind, :<, StandardError
    end
    missing = assert_raises(Runcible::NotFoundError) { Runcible::Model.new("/nothing.gguf", "cpu") }
    assert_equal Errno::ENOENT::Errno, missing.errno
    assert_match(%r{\A/nothing.gguf}, missing.message)
    Dir.mktmpdir do |folder|
      File.symlink("loop.gguf", File.join(folder, "loop.gguf"))
      error = assert_raises(Runcible::FileError) { Runcible::Model.new("#{folder}/loop.gguf", "cpu") }
      assert_equal Errno::ELOOP::Errno, error.errno
      assert_match(/\A#{folder}/, error.message)
    end
    error = assert_raises(Runcible::FileError) { Runcible::Model.new("/", "cpu") }
    assert_equal Errno::EIO::Errno, error.errno
  end

  def test_exception_in_the_progress_block_is_raised
    error = assert_raises(KeyError) do
      Runcible::Model.new("builtin:fable", "cpu") { raise KeyError, "mine" }
    end
    assert_equal "mine", error.message
    assert_equal(7, catch(:out) { Runcible::Model.new("builtin:fable", "cpu") { throw :out, 7 } })
  end

  def test_thread_that_loads_can_be_killed
    fractions = Thread::Queue.new
    thread = Thread.new do
      Runcible::Model.new("builtin:fable", "cpu") do |fraction|
        fractions << fraction
        sleep
      end
    end
    fractions.pop
    thread.kill.join
    refute thread.alive?
  end

  def test_another_thread_cancels_a_generation
    generation = endless
    generation.next
    thread = Thread.new { generation.cancel }
    assert_raises(Runcible::CancelledError) { generation.each { |piece| piece } }
    thread.join
  end

  def test_concurrent_threads_generate_the_same_texts
    threads = (0..7).map do |seed|
      Thread.new { model.session.generate("A", seed: seed, max_tokens: 20).text }
    end
    threads.map(&:value).each_with_index do |text, seed|
      assert_equal model.session.generate("A", seed: seed, max_tokens: 20).text, text
    end
  end

  def test_threads_share_a_generation
    generation = model.session(when_full: :shift).generate("A", ignore_eos: true, max_tokens: 200)
    threads = (0..3).map do
      Thread.new do
        count = 0
        loop { count += generation.next.tokens.size }
        count
      end
    end
    assert_equal 200, threads.sum(&:value)
  end

  def test_closing_while_another_thread_uses
    20.times do
      session = model.session
      tensor = Runcible::Tensor.ones([64, 64], model.backend)
      threads = [
        Thread.new { loop { session.append([5]).decode.truncate(0) } },
        Thread.new { loop { session.fork.tokens } },
        Thread.new { loop { tensor.matmul(tensor) } }
      ].each { |thread| thread.report_on_exception = false }
      sleep rand * 0.01
      session.close
      tensor.close
      threads.each { |thread| assert_raises(Runcible::ClosedError) { thread.join } }
    end
  end

  def test_conversion_of_an_argument_may_close_the_handle
    tokenizer = Runcible::Tokenizer.new("builtin:fable")
    tokens = Object.new
    tokens.define_singleton_method(:to_ary) do
      tokenizer.close
      [5]
    end
    assert_raises(Runcible::ClosedError) { tokenizer.detokenize(tokens) }
  end

  def test_exit_with_requests_in_flight
    assert_prints "done\n", <<~RUBY
      require "runcible"
      model = Runcible::Model.new("builtin:fable", "cpu")
      kept = Array.new(6) { model.session(when_full: :shift).generate("A", ignore_eos: true) }
      kept[0].next
      Thread.new { kept[1].each { |piece| piece } }
      kept[1].next
      puts "done"
    RUBY
  end

  def test_exit_within_a_generation
    assert_prints "done\n", <<~RUBY
      require "runcible"
      session = Runcible::Model.new("builtin:fable", "cpu").session(when_full: :shift)
      session.generate("A", ignore_eos: true) { puts "done"; exit }
    RUBY
  end

  def test_interrupt_ends_a_generation
    # A shell that runs the tests in the background makes them ignore the signal.
    program = <<~RUBY
      require "runcible"
      trap(:INT) { raise Interrupt }
      session = Runcible::Model.new("builtin:fable", "cpu").session(when_full: :shift)
      begun = false
      begin
        session.generate("A", ignore_eos: true) do
          begun ||= $stdout.syswrite("begun\n")
        end
      rescue Interrupt
        puts "interrupted"
      end
    RUBY
    IO.popen([RbConfig.ruby, "-e", program]) do |child|
      assert_equal "begun\n", child.gets
      Process.kill(:INT, child.pid)
      assert_equal "interrupted\n", child.read
    end
    assert_equal 0, $CHILD_STATUS.exitstatus
  end

  def test_child_of_a_fork_cannot_use_handles
    assert_prints "0 true\n", <<~RUBY
      require "runcible"
      model = Runcible::Model.new("builtin:fable", "cpu")
      session = model.session
      generation = session.generate("A")
      child = fork do
        [-> { session.fork }, -> { generation.next }, -> { model.session },
         -> { Runcible::Backend.new("cpu") }].each do |use|
          use.call
          exit! 3
        rescue Runcible::ClosedError => e
          exit! 4 unless e.message.include?("child of a fork")
        end
        model.close
        generation = session = nil
        GC.start
      end
      Process.wait(child)
      puts "\#{$?.exitstatus} \#{!generation.text.empty?}"
    RUBY
  end

  def test_child_of_a_fork_before_any_model_generates
    assert_prints "0\n", <<~RUBY
      require "runcible"
      child = fork do
        text = Runcible::Model.new("builtin:fable", "cpu").session.generate("A", max_tokens: 3).text
        exit! text.empty? ? 3 : 0
      end
      Process.wait(child)
      puts $?.exitstatus
    RUBY
  end

  def test_other_ractors_cannot_use_the_library
    output, errors, status = run_ruby(<<~RUBY)
      require "runcible"
      begin
        Ractor.new { Runcible::Native.discover }.take
      rescue Ractor::RemoteError => e
        puts e.cause.class
      end
    RUBY
    assert status.success?, errors
    assert_equal "Ractor::UnsafeError\n", output
  end

  def test_lost_generations_return_their_descriptors
    # Makes more generations than there are descriptors.
    assert_prints "done\n", <<~RUBY
      require "runcible"
      Process.setrlimit(:NOFILE, 50)
      model = Runcible::Model.new("builtin:fable", "cpu")
      100.times { model.session(context_length: 8).generate("A", max_tokens: 1) }
      puts "done"
    RUBY
  end

  # The collector frees lost tensors, because it knows their size.
  def test_lost_tensors_are_freed
    assert_prints "done\n", <<~RUBY
      require "runcible"
      backend = Runcible::Backend.new("cpu")
      200.times { Runcible::Tensor.ones([1024, 1024], backend) }
      used = File.read("/proc/self/status")[/VmHWM:\\s+(\\d+)/, 1].to_i
      abort "took \#{used} KiB" if used > 400 << 10
      puts "done"
    RUBY
  end

  # Generations leak no memory, in Ruby or in C.
  def test_memory_does_not_grow
    assert_prints "done\n", <<~RUBY
      require "runcible"
      model = Runcible::Model.new("builtin:fable", "cpu")
      generate = lambda do |times|
        times.times do
          model.session do |session|
            session.generate("A", max_tokens: 1, stop: ["x"], logit_bias: { 5 => -1.0 }).text
          end
        end
        GC.start
        File.read("/proc/self/statm").split[1].to_i * 4096
      end
      # A leak grows in every round. The allocator grows in steps, and for longer
      # with many threads.
      before = generate.call(2000)
      grown = []
      until grown.size == 16 || (grown.any? && grown.last < 1 << 20)
        after = generate.call(2000)
        grown << after - before
        before = after
      end
      abort "grew by \#{grown} bytes" if grown.last >= 1 << 20
      puts "done"
    RUBY
  end
end
