# frozen_string_literal: true

# Runs the cases of bindings/conformance/cases.json in Ruby.
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

  # What a step means by a value.
  def value(given)
    return given unless given.is_a?(Hash)
    return @objects.fetch(given["file"]) if given.key?("file")
    return given unless given.key?("golden")

    given["golden"].split("/").reduce(GOLDEN) do |found, key|
      found.is_a?(Array) ? found.fetch(Integer(key)) : found.fetch(key)
    end
  end

  def run_step(step)
    step = step.transform_values { |given| value(given) }
    return __send__("do_#{step["do"]}", step) unless step.key?("raises")

    error = assert_raises(error_class(step["raises"])) do
      __send__("do_#{step["do"]}", step)
    end
    assert_instance_of error_class(step["raises"]), error
    refute_empty error.message
    assert_includes error.message, step.fetch("says", "")
    assert_includes error.message, step.fetch("names", "")
    refute_match(/\b(rc|RC)_|->/, error.message)
    assert_equal step["reason"], error.report.reason if step.key?("reason")
  end

  # The class of a status; "IO" is that of RC_E_IO.
  def error_class(name)
    special = { "IO" => "FileError", "TIMEOUT" => "WaitTimeoutError" }
    Runcible.const_get(special.fetch(name) { "#{name.split("_").map(&:capitalize).join}Error" })
  end

  def object(step, name)
    @objects.fetch(step.fetch(name))
  end

  def keywords(step, name = "options")
    step.fetch(name, {}).transform_keys(&:to_sym)
  end

  # Options of generating, with the grammar that is named.
  def generating(step)
    given = keywords(step)
    given.key?(:grammar) ? given.merge(grammar: @objects.fetch(given[:grammar])) : given
  end

  def do_load(step)
    backend = Runcible::Backend.new(step["backend"], **keywords(step, "backend_options"))
    @objects[step["as"]] =
      if step.key?("hub")
        Runcible::Model.from_hub(step["hub"], backend)
      else
        Runcible::Model.new(step.fetch("path", "builtin:fable"), backend)
      end
  end

  def do_embed(step)
    rows = object(step, "model").embed(step["texts"])
    assert_equal step["expect"].size, rows.size
    rows.zip(step["expect"]) { |row, expected| near(row, expected) }
  end

  def do_rerank(step)
    scores = object(step, "model").rerank(step["query"], step["documents"])
    assert_equal step["expect"].size, scores.size
    near(scores, step["expect"])
  end

  def near(row, expected)
    expected.each_with_index { |number, i| assert_in_delta number, row[i], 2e-3 }
  end

  def do_report(step)
    report = object(step, "model").report
    step["expect"].each { |name, expected| assert_equal expected, report[name] }
  end

  def do_tokenize(step)
    assert_equal step["expect"], object(step, "model").tokenize(step["text"], add_special: false)
  end

  def do_detokenize(step)
    assert_equal step["expect"], object(step, "model").detokenize(step["tokens"])
  end

  def do_session(step)
    @objects[step["as"]] = object(step, "model").session(**keywords(step))
  end

  def do_generate(step)
    generation = object(step, "session").generate(step["prompt"], **generating(step))
    check_text(step, generation.text)
    assert_equal step["reason"], generation.report.reason
  end

  def do_stream(step)
    generation = object(step, "session").generate(step["prompt"], **generating(step))
    pieces = []
    generation.each do |piece|
      pieces << piece
      generation.cancel if pieces.size == step["cancel_after"]
    end
    check_text(step, pieces.join)
    assert_operator pieces.size, :>=, step.fetch("pieces", 0)
    assert_equal step["reason"], generation.report.reason
  end

  def check_text(step, text)
    refute_empty text
    assert_equal step.fetch("expect", text), text
    assert step.fetch("expect_start_of", text).start_with?(text)
  end

  # Each step in a fiber of its own.
  def do_together(step)
    left = step["steps"].size
    failures = []
    done = Thread::Queue.new
    step["steps"].each do |each|
      Fiber.schedule do
        run_step(each)
      rescue Exception => e
        failures << e
      ensure
        done << (left -= 1)
      end
    end
    step["steps"].each { done.pop }
    raise failures.first unless failures.empty?
  end

  def do_tokens(step)
    # The end token ends a text and is no part of the session.
    tokens = object(step, "session").tokens
    assert_equal step["expect"].first(tokens.size), tokens
    assert_operator tokens.size, :>=, step["expect"].size - 1
  end

  def do_append(step)
    object(step, "session").append(step["text"] || step["tokens"])
  end

  def do_statuses(step)
    step["expect"].each do |name, number|
      assert_equal number, error_class(name).status
      error = Runcible::Error.of_status(number, "a message")
      assert_instance_of error_class(name), error
      assert_equal [number, "a message"], [error.status, error.message]
    end
  end

  def do_file(step)
    path = File.join(@folder, step["as"])
    File.write(path, step["text"])
    @objects[step["as"]] = path
  end

  def do_start(step)
    @objects[step["as"]] = object(step, "session").generate(step["prompt"], **keywords(step))
  end

  def do_finish(step)
    object(step, "generation").close
    assert_equal "cancelled", object(step, "generation").report.reason
  end

  def do_close(step)
    object(step, "object").close
  end

  def do_save(step)
    @objects[step["as"]] = File.join(@folder, "session.gguf")
    object(step, "session").save(@objects[step["as"]])
  end

  def do_restore(step)
    @objects[step["as"]] = Runcible::Session.restore(object(step, "model"), object(step, "saved"))
  end

  def do_fork(step)
    @objects[step["as"]] = object(step, "session").fork
  end

  def do_grammar(step)
    given = step["schema"] || step["choices"] || step["text"]
    @objects[step["as"]] =
      Runcible::Grammar.public_send(step["kind"], object(step, "model"), given, **keywords(step))
  end

  def do_chat(step)
    @objects[step["as"]] = object(step, "session").chat(**keywords(step))
  end

  def do_add(step)
    object(step, "chat").add(step["messages"])
  end

  def do_undo(step)
    object(step, "chat").undo(step["count"])
  end

  def do_messages(step)
    assert_equal step["expect"], object(step, "chat").messages
  end

  def do_fork_chat(step)
    @objects[step["as"]] = object(step, "chat").fork
  end

  def do_answer(step)
    reply = Runcible::Reply.new(+"", +"", [])
    reply.report = object(step, "chat").answer(**generating(step)) do |part|
      case part
      when Runcible::ToolCall then reply.tool_calls << part
      when Runcible::Reasoning then reply.reasoning << part
      else reply.text << part
      end
    end
    check_reply(step, reply)
  end

  def do_ask(step)
    check_reply(step, object(step, "chat").ask(step["text"], **generating(step)))
  end

  def check_reply(step, reply)
    calls = reply.tool_calls.map { |call| call.to_h.transform_keys(&:to_s) }
    assert_equal step["expect"],
                 { "text" => reply.text, "reasoning" => reply.reasoning, "calls" => calls }
    assert_equal step["reason"], reply.report.reason
  end

  def do_decode(step)
    object(step, "session").decode(all_logits: step["all_logits"])
  end

  def do_logits(step)
    logits = object(step, "session").logits
    assert_equal step["rows"], logits.size
    assert_equal [step["vocabulary"]], logits.map(&:size).uniq
    row = logits[step["row"]]
    assert_equal step["largest"], row.index(row.max)
    assert_in_epsilon step["sum"], row.sum, step["tolerance"]
  end

  def do_tensor(step)
    count = step["shape"].reduce(:*)
    numbers = step["values"] || ([step["fill"]] * count)
    backend = Runcible::Backend.new(step["backend"])
    @objects[step["as"]] = Runcible::Tensor.new(numbers, backend, shape: step["shape"])
  end

  def do_matmul(step)
    @objects[step["as"]] = object(step, "a").matmul(object(step, "b"))
  end

  def do_quantize(step)
    object(step, "tensor").quantize(step["dtype"])
  end

  def do_read(step)
    tensor = object(step, "tensor")
    assert_equal step["expect_shape"], tensor.shape
    assert_equal step["expect"], tensor.to_a.flatten
  end

  def do_record(step)
    like = step["like"].map { |name| @objects.fetch(name) }
    backend = Runcible::Backend.new(step["backend"])
    @objects[step["as"]] = Runcible::Graph.record(backend, *like) do |*values|
      step["ops"].each do |name, x, *others|
        operator = { "add" => :+, "mul" => :* }.fetch(name, name)
        values << values[x].public_send(operator, *values.values_at(*others))
      end
      values.values_at(*step["outputs"])
    end
  end

  # What other languages do on an event loop is the same under a Fiber scheduler.
  def do_run(step)
    inputs = step["inputs"].map { |name| @objects.fetch(name) }
    made = object(step, "graph").run(*inputs)
    step["as"].zip(made) { |name, tensor| @objects[name] = tensor }
  end
  alias do_run_later do_run

  def do_open_later(step)
    told = []
    backend = Runcible::Backend.new(step["spec"]) { |fraction| told << fraction }
    assert_equal 1.0, told.last
    assert_equal step["expect"], backend.device.id
  end

  def do_switch(step)
    backend = Runcible::Backend.new(step["from"])
    backend.switch(step["spec"])
    assert_equal step["expect"], backend.device.id
  end

  def do_custom_op(step)
    options = step.slice("name", "signature", "attributes", "items").transform_keys(&:to_sym)
    @objects[step["as"]] =
      Runcible::CustomOp.new(library: ENV.fetch("RUNCIBLE_CUSTOM_OP"), **options)
  end

  def do_compute(step)
    inputs = step["inputs"].map { |name| @objects.fetch(name) }
    @objects[step["as"].first] = object(step, "op").call(*inputs, scale: step["scale"])
  end

  def do_pinned(step)
    count = step["shape"].reduce(:*)
    backend = Runcible::Backend.new(step["backend"])
    memory = Runcible::Pinned.new(backend, 4 * count, step["device"] || "")
    assert_equal "\0" * 4 * count, memory.buffer.get_string
    @objects[step["as"]] = memory
    do_write_pinned("memory" => step["as"], "values" => step["values"])
  end

  def do_write_pinned(step)
    buffer = object(step, "memory").buffer
    step["values"].each_with_index { |each, i| buffer.set_value(:f32, 4 * i, each) }
  end

  def do_from_pinned(step, make = :from_bytes)
    backend = Runcible::Backend.new(step["backend"])
    buffer = object(step, "memory").buffer
    @objects[step["as"]] =
      Runcible::Tensor.public_send(make, buffer, step["shape"], "f32", backend)
  end

  def do_borrow_pinned(step)
    do_from_pinned(step, :borrow)
  end

  def do_read_into(step)
    buffer = object(step, "tensor").read_into(object(step, "memory").buffer)
    assert_equal step["expect"], buffer.get_string.unpack("f*")
  end

  def do_drop_pinned(step)
    object(step, "memory").close
  end

  def do_discover_later(step)
    assert_includes Runcible.discover.map(&:id), step["expect"]
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

# Tells which cases passed; see bindings/README.md.
Minitest.after_run do
  path = ENV.fetch("RUNCIBLE_CASES_REPORT", nil)
  next unless path

  names = DOCUMENT["cases"].map { |kase| kase["name"] }
  lines = names.intersection(TestCases::PASSED).map { |name| "passed\t#{name}\n" }
  File.write(path, "language\tRuby\n#{lines.join}")
end
