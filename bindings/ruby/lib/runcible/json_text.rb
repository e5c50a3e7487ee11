# frozen_string_literal: true

require "json"

module Runcible
  # JSON of the objects of programs: schemas, tools, messages, choices.
  module JSONText # :nodoc:
    DEEPEST_VALUE = 200

    module_function

    # Returns the JSON of an argument of this name; a String is JSON already.
    # TypeError, ArgumentError: a part of it cannot be written as JSON.
    def of(value, name)
      value.is_a?(String) ? value : written(value, name)
    end

    # Returns the JSON of an option; a schema alone is the format of an answer.
    def of_option(value, name)
      schema = schema_of(value) if name == :response_format
      if schema
        value = { type: "json_schema",
                  json_schema: { name: "answer", schema: schema } }
      end
      of(value, name)
    end

    # Returns the JSON of a value, also of a String.
    def written(value, name)
      JSON.generate(plain(value, name, 0), max_nesting: 2 * DEEPEST_VALUE)
    rescue JSON::GeneratorError => e
      raise ArgumentError, "#{name}: #{e.message}", cause: nil
    end

    # Returns the schema of a class or an object with the method to_json_schema or
    # json_schema. nil: it has none.
    def schema_of(value)
      return if value.is_a?(Hash)

      %i[to_json_schema json_schema].each do |method|
        next unless value.respond_to?(method) && value.method(method).arity <= 0

        made = value.public_send(method)
        # Some methods return a schema with its name around it.
        return made.is_a?(Hash) && made[:schema].is_a?(Hash) ? made[:schema] : made
      end
      nil
    end

    # Converts a value, and all values within it, to types that JSON has.
    def plain(value, name, depth)
      if depth > DEEPEST_VALUE
        raise ArgumentError, "#{name}: values are nested more than #{DEEPEST_VALUE} " \
                             "deep, or contain themselves"
      end

      case value
      when nil, true, false, String, Numeric then value
      when Symbol then value.to_s
      when Hash
        value.to_h { |key, each| [key.to_s, plain(each, name, depth + 1)] }
      when Array then value.map { |each| plain(each, name, depth + 1) }
      else
        plain(members_of(value, name), name, depth + 1)
      end
    end

    # Returns the Hash or Array that represents an object.
    def members_of(value, name)
      schema = schema_of(value)
      return schema unless schema.nil?
      return value.to_h if value.respond_to?(:to_h) && !value.is_a?(Module)
      return value.to_a if value.respond_to?(:to_a) && !value.is_a?(Module)

      raise TypeError, "#{name}: JSON cannot represent #{value.inspect}"
    end
    private_class_method :members_of
  end
  private_constant :JSONText
end
