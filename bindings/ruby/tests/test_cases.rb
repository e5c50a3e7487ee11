# frozen_string_literal: true

# Runs the cases in bindings/conformance; see README.md there.
require "json"
require "tmpdir"
require_relative "helper"
require_relative "scheduler"

CASES = File.expand_path("../../conformance/cases.json", __dir__)
DOCUMENT = JSON.parse(File.read(CASES))
GOLDEN = JSON.parse(File.read(File.expand_path(DOCUMENT["golden"], File.dirname(CASES))))

# The steps of one case, over named objects.
class Steps
  include Minitest::Assertions

  attr_accessor :assertions

  def initialize(folder)
    @assertions = 0
    @folder = folder
    @objects = {}
  end

  def run(steps)
    steps.each { |step| run_step(step) }
  end

  private

  # Resolves a value of a step: "$name" is an object.
  def value(given)
    case given
    when Array then given.map { |each| value(each) }
    when Hash then given.transform_values { |each| value(each) }
    when /\A\$/ then named(*given.delete_prefix("$").split("/"))
    else given
    end
  end

  def named(kind, *rest)
    case kind
    when "golden"
      rest.reduce(GOLDEN) { |found, key| found.is_a?(Array) ? found.fetch(Integer(key)) : found.fetch(key) }
    when "path" then File.join(@folder, *rest)
    when "backend" then Runcible::Backend.new(*rest)
    else rest.reduce(@objects.fetch(kind)) { |found, name| member(found, name) }
    end
  end

  def run_step(step)
    return if step.fetch("except", []).include?("Ruby")
    return act(step) unless step.key?("raises")

    own = { "TYPE" => [TypeError], "VALUE" => [ArgumentError, RangeError, EncodingError] }[step["raises"]]
    return refute_kind_of(Runcible::Error, assert_raises(*own) { act(step) }) if own

    error = assert_raises(error_class(step["raises"])) { act(step) }
    assert_instance_of error_class(step["raises"]), error
    refute_empty error.message
    assert_includes error.message, step.fetch("says", "")
    assert error.message.start_with?(step.fetch("names", "")), error.message
    refute_match(/\b(rc|RC)_|->/, error.message)
    assert_equal step["retries"], !error.retry_after.nil? if step.key?("retries")
    assert_equal step["reason"], error.report.reason if step.key?("reason")
  end

  # The class of a status; "IO" is that of RC_E_IO.
  def error_class(name)
    special = { "IO" => "FileError", "TIMEOUT" => "WaitTimeoutError" }
    Runcible.const_get(special.fetch(name) { "#{name.split("_").map(&:capitalize).join}Error" })
  end

  def act(step)
    found = call(step)
    if step["as"].is_a?(Array)
      assert_equal step["as"].size, found.size
      @objects.merge!(step["as"].zip(found).to_h)
    elsif step.key?("as")
      @objects[step["as"]] = found
    end
    check(found, value(step["expect"]), step["do"]) if step.key?("expect")
  end

  # Calls the function that a step names, of an object, a class or the package.
  def call(step)
    on, method = step["do"].split(".")
    given = value(step.fetch("with", []))
    options = value(step.fetch("options", {})).transform_keys(&:to_sym)
    options[:logit_bias] = biases(options[:logit_bias]) if options.key?(:logit_bias)
    target = @objects.fetch(on) { on.match?(/\A[A-Z]/) ? Runcible.const_get(on) : Runcible }
    own = ["do_#{on.downcase}_#{method}", "do_#{method || on}"].find { |name| respond_to?(name, true) }
    return __send__(own, target, step, *given, **options) if own
    return target if method.nil? && @objects.key?(on)

    method = { "add" => "+", "mul" => "*" }.fetch(method, method) if target.is_a?(Runcible::Tensor)
    target.public_send(method || on, *given, **options)
  end

  def biases(pairs)
    pairs.to_h.transform_values { |bias| bias || -Float::INFINITY }
  end

  # Checks a result against the expected part of it.
  def check(found, expected, what)
    case expected
    when Array
      assert_equal expected.size, found.size, what
      expected.each_with_index { |each, i| check(found[i], each, "#{what}[#{i}]") }
    when Hash
      expected.each do |name, wanted|
        if name.start_with?("$")
          compare(name, found, wanted, expected["$by"], what) unless name == "$by"
        else
          check(member(found, name), wanted, "#{what}.#{name}")
        end
      end
    when nil then assert_nil found, what
    else assert_equal expected, found, what
    end
  end

  def member(found, name)
    return found.fetch(name) if found.is_a?(Hash)
    return found.to_a.flatten if name == "numbers"
    return found if name == "devices" && !found.respond_to?(name)

    found.public_send(name)
  end

  def passes?(found, wanted)
    check(found, wanted, "")
    true
  rescue Minitest::Assertion
    false
  end

  def compare(name, found, wanted, by, what)
    case name
    when "$same" then assert_equal wanted, found, what
    when "$not" then refute_equal wanted, found, what
    when "$near"
      Array(wanted).zip(Array(found)) { |number, each| assert_in_delta number, each, by, what }
    when "$least" then assert_operator found, :>=, wanted, what
    when "$most" then assert_operator found, :<=, wanted, what
    when "$count" then check(found.size, wanted, what)
    when "$some" then assert(found.any? { |each| passes?(each, wanted) }, what)
    when "$all" then found.each { |each| check(each, wanted, what) }
    when "$any" then assert(wanted.any? { |each| passes?(found, each) }, what)
    when "$start_of"
      refute_empty found, what
      assert wanted.start_with?(found), what
    when "$but_last"
      assert_equal wanted.first(found.size), found, what
      assert_operator found.size, :>=, wanted.size - 1
    else flunk "there is no comparison #{name}"
    end
  end

  # Steps that are not a single call of the package, or that have another name in
  # Ruby.

  def do_open(kind, _step, *given, **options)
    kind.new(*given, **options)
  end
  alias do_load do_open
  alias do_create do_open

  def do_generate(session, _step, *given, **options)
    generation = session.generate(*given, **options)
    { "text" => generation.text, "report" => generation.report }
  end

  def do_stream(session, step, prompt, **options)
    generation = session.generate(prompt, **options)
    pieces = []
    generation.each do |piece|
      pieces << piece
      generation.cancel if pieces.size == step["cancel_after"]
    end
    { "text" => pieces.join, "pieces" => pieces.map { |each| described(each) }, "report" => generation.report }
  end

  def described(piece)
    best = ->((token, logprob)) { { "token" => token, "logprob" => logprob } }
    { "text" => piece.to_str, "tokens" => piece.tokens, "logprobs" => piece.logprobs&.map(&best),
      "top_logprobs" => piece.top_logprobs&.map { |each| each.map(&best) } }
  end

  def do_start(session, _step, prompt, **options)
    session.generate(prompt, **options)
  end

  def do_leave(session, _step, prompt, **options)
    session.generate(prompt, **options).tap(&:next)
  end

  def do_close_all(_, _step, *names)
    names.each { |name| @objects[name].close }
  end

  def do_finish(generation, _step)
    generation.close
    generation
  end

  # Runs each step in a separate fiber.
  def do_together(_, step)
    failures = []
    done = Thread::Queue.new
    step["steps"].each do |each|
      Fiber.schedule do
        run_step(each)
      rescue Exception => e
        failures << e
      ensure
        done << each
      end
    end
    step["steps"].each { done.pop }
    raise failures.first unless failures.empty?
  end

  def do_statuses(_, _step, numbers)
    numbers.each do |name, number|
      assert_equal number, error_class(name).status
      error = Runcible::Error.of_status(number, "a message")
      assert_instance_of error_class(name), error
      assert_equal [number, "a message"], [error.status, error.message]
    end
  end

  def do_file(_, _step, path, text)
    File.write(path, text)
  end

  def do_answer(chat, _step, **options)
    reply = { "text" => +"", "reasoning" => +"", "tool_calls" => [] }
    report = chat.answer(**options) do |part|
      case part
      when Runcible::ToolCall then reply["tool_calls"] << part
      when Runcible::Reasoning then reply["reasoning"] << part
      else reply["text"] << part
      end
    end
    reply.merge("report" => report)
  end

  def do_logits(session, _step, number)
    logits = session.logits
    assert_equal 1, logits.map(&:size).uniq.size
    row = logits[number]
    { "rows" => logits.size, "vocabulary" => row.size, "largest" => row.index(row.max), "sum" => row.sum }
  end

  def do_tensor_of(kind, _step, values, shape, backend, **options)
    kind.new(values, backend, shape: shape, **options)
  end

  def do_record(kind, _step, backend, like, ops, outputs, kept = [])
    kind.record(backend, *like) do |*inputs|
      values = inputs + kept
      ops.each do |name, x, *others|
        operator = { "add" => :+, "mul" => :* }.fetch(name, name)
        values << (@objects["recorded"] = values[x].public_send(operator, *values.values_at(*others)))
      end
      values.values_at(*outputs)
    end
  end

  # Calls that other languages make on an event loop are the same under a Fiber
  # scheduler.
  def do_run(graph, _step, inputs, **options)
    graph.run(*inputs, **options)
  end
  alias do_run_later do_run

  def do_open_later(kind, _step, spec)
    fractions = []
    backend = kind.new(spec) { |fraction| fractions << fraction }
    assert_equal 1.0, fractions.last
    backend
  end

  def do_switch_later(backend, _step, spec, **options)
    backend.switch(spec, **options)
  end

  def do_discover_later(_, _step)
    Runcible.discover
  end

  def do_customop_of(kind, _step, **options)
    kind.new(library: ENV.fetch("RUNCIBLE_CUSTOM_OP"), **options)
  end

  def do_compute(custom, _step, inputs, **options)
    [custom.call(*inputs, **options)]
  end

  def do_pinned_of(kind, step, values, backend, device = "")
    memory = kind.new(backend, 4 * values.size, device)
    assert_equal "\0" * 4 * values.size, memory.buffer.get_string
    do_write_pinned(memory, step, values)
    memory
  end

  def do_write_pinned(memory, _step, values)
    values.each_with_index { |each, i| memory.buffer.set_value(:f32, 4 * i, each) }
  end

  def do_from_pinned(kind, _step, memory, shape, backend)
    kind.from_bytes(memory.buffer, shape, "f32", backend)
  end

  def do_borrow_pinned(kind, _step, memory, shape, backend)
    kind.borrow(memory.buffer, shape, "f32", backend)
  end

  def do_read_into(tensor, _step, memory)
    tensor.read_into(memory.buffer).get_string.unpack("f*")
  end

  def do_drop(_, _step, name)
    @objects[name].close
  end
end

class TestCases < Minitest::Test
  PASSED = []

  DOCUMENT["cases"].each do |kase|
    define_method("test_#{kase["name"]}") do
      Dir.mktmpdir do |folder|
        Scheduler.run do
          assert Fiber.current_scheduler
          steps = Steps.new(folder)
          steps.run(kase["steps"])
          self.assertions += steps.assertions
        end
      end
      PASSED << kase["name"]
    end
  end
end

# Reports which cases passed; see bindings/README.md.
Minitest.after_run do
  path = ENV.fetch("RUNCIBLE_CASES_REPORT", nil)
  next unless path

  names = DOCUMENT["cases"].map { |kase| kase["name"] }
  lines = names.intersection(TestCases::PASSED).map { |name| "passed\t#{name}\n" }
  File.write(path, "language\tRuby\n#{lines.join}")
end
