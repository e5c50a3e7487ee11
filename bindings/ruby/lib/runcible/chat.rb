# frozen_string_literal: true

require "json"

module Runcible
  # A complete answer: its +text+, the +reasoning+ before it, the +tool_calls+,
  # and the +report+ of its end, whose reason is "tool calls" if there are tool
  # calls.
  Reply = Struct.new(:text, :reasoning, :tool_calls, :report)

  # The parts of an answer as they arrive: a Piece of text, Reasoning, or a
  # complete ToolCall. It ends, and is left, as a Generation is; the answer as far
  # as it came is a message of the conversation then.
  class Answer < Generation
    # Returns the parts that were not yet read, as a Reply.
    def reply
      made = Reply.new(+"", +"", [])
      each do |part|
        case part
        when ToolCall then made.tool_calls << part
        when Reasoning then made.reasoning << part
        else made.text << part
        end
      end
      made.report = report
      made
    end

    # Returns the rest of the text, without tool calls and reasoning.
    def text
      reply.text
    end
  end

  # A conversation: a list of messages on top of a session; see Session#chat.
  #
  # An answer of the model becomes one of the messages. Each answer evaluates only
  # what the session does not hold yet, also after messages were removed. To save
  # a conversation, save its session (Session#save) and its messages.
  class Chat < Handle
    private_class_method :new

    def self.of(proxy, generations)
      made = allocate
      made.__send__(:own, proxy, generations)
      made
    end
    private_class_method :of

    def self.options( # :nodoc:
      tools: nil, template_name: nil, template_text: nil,
      template_arguments: nil, thinking: nil, now: nil
    )
      made = Native::Chat_options.new
      made.set_tools(JSONText.of(tools, :tools)) if tools
      made.set_template_name(template_name)
      made.set_template_text(template_text)
      if template_arguments
        text = JSONText.of(template_arguments, :template_arguments)
        made.set_template_arguments(text)
      end
      made.set_now(now)
      Arguments.set(made, thinking: thinking)
    end

    # Adds messages, Hashes in the shape of "messages" of OpenAI's chat
    # completions; a String is a message of the user. InvalidArgumentError,
    # UnsupportedError: a message is malformed, with its position; no message was
    # added then. BusyError: an answer is in progress.
    def add(*messages)
      messages = messages.flatten.map do |message|
        message.is_a?(String) ? { role: "user", content: message } : message
      end
      Native.chat_add(idle, JSONText.written(messages, :messages))
      self
    end
    alias << add

    # :header: rc_chat_undo
    def undo(count = 1)
      Native.chat_undo(idle, count)
      self
    end

    # Returns all messages. BusyError: an answer is in progress.
    def messages
      JSON.parse(Native.chat_messages(idle).force_encoding(Encoding::UTF_8))
    end

    # :header: rc_chat_fork
    def fork
      self.class.__send__(:of, Native.chat_fork(idle), ObjectSpace::WeakMap.new)
    end

    # Lets the model answer; the parts are read from the Answer. The options are
    # those of Session#generate. With a block, each part is yielded to it, and the
    # Report is returned.
    def answer(**options)
      made = Session.generate_options(nil, **options)
      handle = idle
      answer = Answer.new do |box|
        Native.mailbox_answer(box, handle, made, 0)
      end
      @generations[answer] = answer
      return answer unless block_given?

      answer.each { |part| yield part }
      answer.report
    end

    # Adds messages, if any, and returns the whole answer, a Reply.
    def ask(*messages, **options)
      add(*messages) unless messages.empty?
      answer(**options).reply
    end

    private

    def own(proxy, generations)
      super(proxy)
      @generations = generations # the session's generations, as keys
    end

    # Returns the proxy for calls that need the session without an answer in
    # progress.
    def idle
      handle = proxy
      @generations.keys.select(&:left?).each(&:leave)
      handle
    end
  end
end
