# frozen_string_literal: true

# Schemas, tools, choices and messages as objects.
require_relative "helper"

class TestJSON < Minitest::Test
  include Helper

  SCHEMA = {
    type: :object, required: %w[clouds sky],
    properties: { clouds: { type: :integer, const: 2 }, sky: { const: "gréy" } }
  }.freeze
  SKY = { "clouds" => 2, "sky" => "gréy" }.freeze
  MODEL = Runcible::Model.new("builtin:fable", "cpu")

  # Classes that have a method for their schema, as those of some libraries do.
  class Sky
    def self.json_schema = SCHEMA
  end

  class NamedSky
    def to_json_schema = { name: "sky", schema: SCHEMA }
  end

  SCHEMAS = { hash: SCHEMA, text: JSON.generate(SCHEMA), class: Sky, object: NamedSky.new }.freeze

  def chat
    MODEL.session.chat(template_name: "zephyr")
  end

  SCHEMAS.each do |name, schema|
    define_method("test_a_grammar_of_a_#{name}") do
      grammar = Runcible::Grammar.json_schema(MODEL, schema)
      assert_equal SKY, JSON.parse(MODEL.session.generate("A", grammar: grammar).text)
    end

    define_method("test_a_format_of_a_#{name}") do
      inner = schema.is_a?(String) ? JSON.parse(schema) : schema
      whole = { type: "json_schema", json_schema: { name: "sky", schema: inner } }
      formats = [whole]
      formats << schema unless schema.is_a?(Hash) || schema.is_a?(String)
      formats.each do |format|
        assert_equal SKY, JSON.parse(chat.ask("How is it?", response_format: format).text)
      end
    end
  end

  def test_objects_are_added_as_messages
    message = Struct.new(:role, :content)
    chat = self.chat
    chat.add(message.new(:user, "a"), { role: "assistant", content: "b" })
    said = chat.messages.map { |each| each["content"] }
    assert_equal %w[a b], said
  end

  def test_errors_name_the_argument
    circle = []
    circle << circle
    chat = self.chat
    chat.add("a")
    [circle, Float::NAN, Object, -> {}, Object.new].each do |bad|
      within = { a: [bad] }
      {
        response_format: -> { chat.answer(response_format: within) },
        tool_choice: -> { chat.answer(tool_choice: within) },
        messages: -> { chat.add({ role: "user", content: bad }) },
        tools: -> { MODEL.session.chat(template_name: "zephyr", tools: [within]) },
        schema: -> { Runcible::Grammar.json_schema(MODEL, within) }
      }.each do |name, wrong|
        error = assert_raises(TypeError, ArgumentError, &wrong)
        assert_match(/\A#{name}: /, error.message)
      end
    end
  end
end
