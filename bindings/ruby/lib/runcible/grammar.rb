# frozen_string_literal: true

module Runcible
  # :header: rc_grammar
  #
  # :header: rc_grammar_create
  class Grammar < Handle
    private_class_method :new

    # :header: RC_GRAMMAR_JSON_SCHEMA
    #
    # :header: rc_grammar_options
    #
    # +tokenizer+ is a Tokenizer or a Model, +schema+ a Hash, JSON, or an object
    # with a method to_json_schema or json_schema.
    def self.json_schema(tokenizer, schema, **options)
      text = JSONText.of(schema, :schema)
      make(tokenizer, Native::GRAMMAR_JSON_SCHEMA, text, **options)
    end

    # :header: RC_GRAMMAR_REGEX
    def self.regex(tokenizer, expression)
      text = expression.is_a?(Regexp) ? expression.source : expression
      make(tokenizer, Native::GRAMMAR_REGEX, text)
    end

    # :header: RC_GRAMMAR_GBNF
    def self.gbnf(tokenizer, rules)
      make(tokenizer, Native::GRAMMAR_GBNF, rules)
    end

    # :header: RC_GRAMMAR_LARK
    def self.lark(tokenizer, rules)
      make(tokenizer, Native::GRAMMAR_LARK, rules)
    end

    # Makes a grammar of a list of texts; the generated text is one of them.
    def self.choices(tokenizer, choices)
      texts = Native::Text_list.new
      choices.each { |choice| texts.add(choice) }
      handle = tokenizer_of(tokenizer)
      of(Cooperation.wait_for { Native.grammar_of_choices(handle, texts) })
    end

    def self.options( # :nodoc:
      # :api: keywords rc_grammar_options
    )
      Arguments.set(
        Native::Grammar_options.new,
        # :api: values rc_grammar_options
      )
    end
    private_class_method :options

    def self.make(tokenizer, kind, text, **options)
      handle = tokenizer_of(tokenizer)
      made = self.options(**options)
      of(Cooperation.wait_for { Native.grammar_create(handle, kind, text, made) })
    end
    private_class_method :make

    def self.tokenizer_of(given)
      given = given.tokenizer if given.is_a?(Model)
      Arguments.proxy_of(given, Tokenizer, "tokenizer")
    end
    private_class_method :tokenizer_of
  end
end
