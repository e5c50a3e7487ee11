# frozen_string_literal: true

module Runcible
  # :header: session.h
  class Session < Handle
    attr_reader :model

    # :header: rc_session_create
    #
    # :header: rc_session_options
    def initialize(model, **options)
      super()
      options = self.class.options(**options)
      handle = Arguments.proxy_of(model, Model, "model")
      own(Native.session_create(handle, options), model)
    end

    # :header: rc_session_restore
    #
    # The options are those of Session.new.
    def self.restore(model, path, **options)
      handle = Arguments.proxy_of(model, Model, "model")
      options = self.options(**options)
      path = Arguments.path(path)
      of(Cooperation.wait_for { Native.session_restore(handle, path, options) },
         model)
    end

    # :header: rc_session_restore_memory
    #
    # The options are those of Session.new.
    def self.restore_bytes(model, bytes, **options)
      handle = Arguments.proxy_of(model, Model, "model")
      options = self.options(**options)
      made = Cooperation.wait_for do
        Native.session_restore_memory(handle, bytes, options)
      end
      of(made, model)
    end

    def self.of(proxy, model)
      made = allocate
      made.__send__(:own, proxy, model)
      made
    end
    private_class_method :of

    def self.options( # :nodoc:
      # :api: keywords rc_session_options
    )
      Arguments.set(
        Native::Session_options.new,
        # :api: values rc_session_options
      )
    end

    # Starts generating; the pieces are read from the Generation.
    #
    # :header: rc_generate_options
    #
    # +prompt+ is a String, an Array of tokens, or nil; +stop+ a String or
    # several, +logit_bias+ a Hash by tokens, +grammar+ a Grammar. With a block,
    # each piece is yielded to it, and the Report is returned.
    def generate(prompt = nil, **options)
      made = self.class.generate_options(prompt, **options)
      handle = idle
      generation = Generation.new do |box|
        Native.mailbox_generate(box, handle, made, 0)
      end
      @generations[generation] = generation
      return generation unless block_given?

      generation.each { |piece| yield piece }
      generation.report
    end

    def self.generate_options( # :nodoc:
      prompt, logit_bias: nil, stop: nil, stop_tokens: nil, grammar: nil,
      add_special: true, parse_special: false,
      # :api: keywords rc_generate_options
    )
      options = Arguments.set(
        Native::Generate_options.new,
        tokenize_flags: Arguments.tokenize_flags(add_special, parse_special),
        # :api: values rc_generate_options
      )
      if prompt.is_a?(String)
        options.set_prompt(prompt)
      elsif !prompt.nil?
        options.set_prompt_tokens(prompt)
      end
      Array(stop).each do |text|
        raise TypeError, "stop must be Strings, not #{text.class}" unless text.is_a?(String)

        options.add_stop(text)
      end
      options.set_stop_tokens(stop_tokens) unless stop_tokens.nil?
      logit_bias&.each { |token, bias| options.add_logit_bias(token, bias) }
      options.set_grammar(Arguments.proxy_of(grammar, Grammar, "grammar")) if grammar
      options
    end

    # Begins a conversation without messages on top of the session.
    #
    # +tools+:: The functions that the model may call, in the shape of "tools"
    #           of OpenAI's chat completions.
    # +template_name+:: The name of a chat template: a variant in the file, or a
    #                   well-known template for files that have none ("chatml",
    #                   "llama3", "zephyr", ...).
    # +template_text+:: The source of a chat template; replaces +template_name+.
    # +template_arguments+:: More variables for the template, a Hash.
    # +thinking+:: Whether models that can do both think before they answer;
    #              nil: the default of the template.
    # +now+:: The time that templates which write the date use as the present:
    #         "2024-07-26" or "2024-07-26T14:05:09".
    #
    # InvalidArgumentError: an invalid option; NotFoundError: there is no such
    # template, or the file has none; UnsupportedError: the model has no
    # tokenizer; FormatError: an error in the template.
    def chat(**options)
      made = Chat.options(**options)
      Chat.__send__(:of, Native.chat_create(idle, made), @generations)
    end

    # Waits for other threads' calls on the session, except for generations, which
    # go on. Calls that they begin meanwhile fail at once, so that they cannot
    # keep the lock to themselves.
    def close
      return super unless @lock

      proxy, @proxy = @proxy, nil
      @lock.synchronize { Native.drop(proxy) } if proxy
      nil
    end

    # :header: rc_session_append
    #
    # +what+ is a String or an Array of tokens.
    def append(what, add_special: true, parse_special: false)
      flags = Arguments.tokenize_flags(add_special, parse_special)
      alone do
        if what.is_a?(String)
          Native.session_append_text(proxy, what, flags)
        else
          Native.session_append(proxy, what)
        end
      end
      self
    end
    alias << append

    # :header: rc_session_decode
    def decode(all_logits: false)
      flags = all_logits ? Native::DECODE_ALL_LOGITS : 0
      alone do
        Cooperation.wait_for { Native.session_decode(proxy, flags) }
      end
      self
    end

    # Returns the logits of the last decode: an Array of rows, each with a Float
    # for every token of the vocabulary. One row, or one for each token evaluated
    # with +all_logits+. NotFoundError: there was no decode since the last change.
    def logits
      bytes, rows, columns = logits_bytes
      numbers = bytes.unpack("f*")
      Array.new(rows) { |row| numbers[row * columns, columns] }
    end

    # Returns the logits as [String of F32 numbers, rows, vocabulary].
    def logits_bytes
      alone { Native.session_logits(proxy) }
    end

    # :api: methods rc_session

    private

    def own(proxy, model)
      super(proxy)
      @model = model
      @lock = Mutex.new
      @generations = ObjectSpace::WeakMap.new # as keys
    end

    # Returns the proxy for calls that need the session to themselves. A fiber
    # that has read a generation and then uses its session has left the
    # generation, and nothing else reports that.
    def idle
      handle = proxy
      @generations.keys.select(&:left?).each(&:leave)
      handle
    end

    # Runs a block while no other call changes the session, its logits or their
    # copy.
    def alone(&)
      idle
      @lock.synchronize(&)
    end

    def description
      " of #{position} tokens"
    end
  end
end
