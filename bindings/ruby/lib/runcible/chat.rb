# frozen_string_literal: true

require "json"

module Runcible
  # A whole answer: its +text+, the +reasoning+ before it, the +tool_calls+, and
  # the +report+ of how it ended, by "tool calls" after some.
  Reply = Struct.new(:text, :reasoning, :tool_calls, :report)

  # The parts of an answer as they come: a Piece of text, Reasoning, or a whole
  # ToolCall. It ends as a Generation does, and is left as one. Whatever came of
  # it is a message of the conversation then.
  class Answer < Generation
    # What was not read yet, as a Reply.
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

    # The rest of the text, without calls and what the model thinks.
    def text
      reply.text
    end
  end

  # A conversation: a list of messages over a session; see Session#chat.
  #
  # An answer of the model becomes one of the messages. For each answer only what
  # the session does not hold yet is evaluated, also after messages were
  # forgotten. To keep a conversation, keep its session (Session#save) and its
  # messages.
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
    # completions; a String is what the user says. InvalidArgumentError,
    # UnsupportedError: one is malformed, by its place; nothing was added then.
    # BusyError: an answer is under way.
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

    # All messages. BusyError: an answer is under way.
    def messages
      JSON.parse(Native.chat_messages(idle).force_encoding(Encoding::UTF_8))
    end

    # :header: rc_chat_fork
    def fork
      self.class.__send__(:of, Native.chat_fork(idle), ObjectSpace::WeakMap.new)
    end

    # Lets the model answer; the parts come out of the Answer. The options are
    # those of Session#generate. With a block each part is yielded to it, and the
    # Report returned.
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

    # Adds messages, if any, and gives the whole answer, a Reply.
    def ask(*messages, **options)
      add(*messages) unless messages.empty?
      answer(**options).reply
    end

    private

    def own(proxy, generations)
      super(proxy)
      @generations = generations # as keys, of the session
    end

    # The proxy, for what no answer under way allows.
    def idle
      handle = proxy
      @generations.keys.select(&:left?).each(&:leave)
      handle
    end
  end
end
