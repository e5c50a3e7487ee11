# frozen_string_literal: true

require "json"

module Runcible
  # JSON of what programs have as objects: schemas, tools, messages, choices.
  module JSONText # :nodoc:
    DEEPEST_VALUE = 200

    module_function

    # The JSON of an argument of this name; a String is JSON already. TypeError,
    # ArgumentError: JSON has nothing for a part of it.
    def of(value, name)
      value.is_a?(String) ? value : written(value, name)
    end

    # The same of an option; a schema alone is the format of an answer.
    def of_option(value, name)
      schema = schema_of(value) if name == :response_format
      if schema
        value = { type: "json_schema",
                  json_schema: { name: "answer", schema: schema } }
      end
      of(value, name)
    end

    # The JSON of a value, also of a String.
    def written(value, name)
      JSON.generate(plain(value, name, 0), max_nesting: 2 * DEEPEST_VALUE)
    rescue JSON::GeneratorError => e
      raise ArgumentError, "#{name}: #{e.message}", cause: nil
    end

    # The schema of a class or an object that tells it: what has to_json_schema
    # or json_schema. nil: it has none.
    def schema_of(value)
      return if value.is_a?(Hash)

      %i[to_json_schema json_schema].each do |method|
        next unless value.respond_to?(method) && value.method(method).arity <= 0

        made = value.public_send(method)
        # Some tell a schema with its name around it.
        return made.is_a?(Hash) && made[:schema].is_a?(Hash) ? made[:schema] : made
      end
      nil
    end

    # Returns a value, and all within it, in forms that JSON has.
    def plain(value, name, depth)
      if depth > DEEPEST_VALUE
        raise ArgumentError, "#{name}: values nest more than #{DEEPEST_VALUE} " \
                             "deep, or are within themselves"
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

    # The Hash or Array that an object stands for.
    def members_of(value, name)
      schema = schema_of(value)
      return schema unless schema.nil?
      return value.to_h if value.respond_to?(:to_h) && !value.is_a?(Module)
      return value.to_a if value.respond_to?(:to_a) && !value.is_a?(Module)

      raise TypeError, "#{name}: JSON has nothing for #{value.inspect}"
    end
    private_class_method :members_of
  end
  private_constant :JSONText
end
