# frozen_string_literal: true

# Values, reports, tensors and examples, which the cases do not show.
require_relative "helper"

class TestPackage < Minitest::Test
  include Helper

  EXAMPLES = File.expand_path("../examples", __dir__)

  def test_module_is_loaded_from_the_gem
    skip "not from a gem" unless ENV["GEM_HOME"]
    assert($LOADED_FEATURES.grep(%r{/runcible/native\.so}).all? { |path| path.start_with?(ENV["GEM_HOME"]) })
  end

  def test_generation_is_enumerable
    generation = model.session.generate("A fox", temperature: 0, max_tokens: 12)
    first = generation.next
    assert_kind_of Runcible::Piece, first
    rest = generation.each.with_index.map { |piece, _| piece }
    assert_equal(12, [first, *rest].sum { |piece| piece.tokens.size })
    assert_raises(StopIteration) { generation.next }
    whole = model.session.generate("A fox", temperature: 0, max_tokens: 12).text
    assert_equal whole, [first, *rest].join
    lazily = model.session.generate("A fox", temperature: 0, max_tokens: 12).lazy.map(&:size).first(2)
    assert_equal 2, lazily.size
    outside = model.session.generate("A fox", temperature: 0, max_tokens: 12).each
    assert_equal first, outside.next
  end

  def test_texts_are_utf8
    bytes = "a\xFFb".b
    assert model.detokenize(model.tokenize(bytes)).end_with?("a\uFFFDb")
    assert model.tokenizer.detokenize_bytes(model.tokenize(bytes)).end_with?(bytes)
    assert_equal model.tokenize("gr\u00fcn"), model.tokenize("gr\u00fcn".encode("UTF-16LE"))
    assert_equal Encoding::UTF_8, model.session.generate("A", max_tokens: 1).next.encoding
  end

  def test_reports_plans_and_usage
    report = model.session.generate("A", max_tokens: 1).tap(&:text).report
    assert report.frozen?
    assert Runcible.plan("builtin:fable", "cpu", context_length: 64, cache_dtype: :f32).fits
    backend = Runcible::Backend.new("cpu")
    Runcible::Model.open("builtin:fable", backend) do |small|
      small.session { |session| session.generate("A", max_tokens: 2).text }
      assert_equal 2, backend.usage.generated_tokens
    end
    assert_match(/Model "?.*cpu:0/, model.inspect)
    assert_equal '#<Runcible::Tenant "acme">', Runcible::Tenant.new(name: "acme").inspect
  end

  def test_load_reports_progress
    fractions = []
    Runcible::Model.new("builtin:fable", "cpu") { |fraction| fractions << fraction }.close
    assert_equal fractions.sort, fractions
    assert_equal 1.0, fractions.last
  end

  def test_sessions_save_and_return_logits
    session = model.session(when_full: :shift, keep_tokens: 1)
    session << "A fox" << [5, 6]
    saved = session.decode.save_bytes
    assert_equal Encoding::BINARY, saved.encoding
    bytes, rows, columns = session.logits_bytes
    assert_equal bytes.unpack("f*"), session.logits.flatten
    assert_equal [1, model.report.vocabulary], [rows, columns]
    error = assert_raises(Runcible::NotFoundError) { model.session.logits }
    assert_equal Runcible::NotFoundError.status, error.status
  end

  def test_tensor_ops_give_expected_numbers
    backend = Runcible::Backend.new("cpu")
    a = Runcible::Tensor.new([[1, 2, 3], [4, 5, 6]], backend)
    assert_equal [6, 24], [a.size, a.bytesize]
    assert_equal [[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]], a.reshape(2, -1, 1).to_a
    x = Runcible::Tensor.random([2, 256], backend, seed: 1)
    assert_equal x.to_a, Runcible::Tensor.random([2, 256], backend, seed: 1).to_a
    weight = x.quantize(:q8_0)
    again = Runcible::Tensor.from_bytes(weight.read, weight.shape, :q8_0, backend)
    assert_equal weight.to_a, again.to_a
    assert_equal x.matmul_quantized(weight).to_a, x.fused_linear(weight).to_a
    assert_equal [2, 0], Runcible::Tensor.zeros([2, 0], backend).shape
    assert_equal [[], []], Runcible::Tensor.zeros([2, 0], backend).to_a
  end

  def test_comments_contain_docs_of_the_headers
    source = $LOADED_FEATURES.grep(%r{/runcible/session\.rb}).first
    refute_match(/:header:/, File.read(source))
    assert_match(/Evaluates the tokens that have not been evaluated/, File.read(source))
  end

  def test_chat_program_of_the_readme_prints_its_output
    readme = File.read(File.expand_path("../README.md", __dir__))
    program = readme[/<!-- tests: chat -->\n```ruby\n(.*?)```/m, 1]
    assert_prints "Who will not let go is held.\nIn it there is a bear and a bee.\n", program
  end

  def test_examples_print_their_output
    output, errors, status = Open3.capture3(RbConfig.ruby, "-w", File.join(EXAMPLES, "story.rb"), "A crow")
    assert status.success?, errors
    assert_match(/\AA crow/, output)
    assert_match(/\A\d+ tokens, \w+\n\z/, errors)
    output, = Open3.capture2e(RbConfig.ruby, "-w", File.join(EXAMPLES, "silu_gate.rb"))
    assert_equal "-1.5379\n0.0000\n2.4621\n2.8808\n", output
    begin
      require "async"
    rescue LoadError
      skip "there is no gem async"
    end
    output, errors, status = Open3.capture3(RbConfig.ruby, File.join(EXAMPLES, "together.rb"))
    assert status.success?, errors
    assert_match(/^A fox.*^A goose/m, output)
  end
end
