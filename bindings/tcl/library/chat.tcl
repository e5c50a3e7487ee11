# Conversations with models; see runcible/chat.h.
#
# Messages and tools are dicts, or JSON. Arguments of calls and of templates are
# JSON, because nothing describes their types.

# Calls {*}$command with the library's options of a conversation.
proc ::runcible::WithChatOptions {pairs command} {
    set options [native::new_chat_options]
    try {
        dict for {name value} $pairs {
            if {$name in {tools template_text template_name template_arguments now}} {
                if {$name eq "tools"} {set value [ToolsJson $value -tools]}
                native::chat_options_set_$name $options $value
            } elseif {$name ne "thinking"} {
                Refuse "there is no option \"-$name\""
            } elseif {![string is boolean -strict $value]} {
                Refuse "-thinking must be a boolean, not \"$value\""
            } else {
                native::chat_options_thinking_set $options [expr {$value ? 1 : 0}]
            }
        }
        return [{*}$command $options]
    } finally {
        native::dispose $options
    }
}

# Answers, which are also Generations or Streams: their pieces are parts, dicts of
# a kind. `text` and `reasoning` have a text; `call`, a call of a tool, has an id,
# a name and arguments, JSON.
oo::class create ::runcible::AnswerParts {
    method Shown {event} {
        set kind [dict get $event kind]
        if {$kind ne "call"} {return [dict create kind $kind text [dict get $event text]]}
        return [dict create kind call id [dict get $event id] name [dict get $event name] \
            arguments [dict get $event text]]
    }

    # Returns the rest at once: a dict of text, reasoning, calls, a list, and
    # report.
    method reply {} {
        set made {text "" reasoning "" calls {}}
        while {[my next part]} {
            if {[dict get $part kind] eq "call"} {
                dict lappend made calls [dict remove $part kind]
            } else {
                dict append made [dict get $part kind] [dict get $part text]
            }
        }
        return [dict set made report [my report]]
    }

    # Returns the rest of the text.
    method text {} {
        return [dict get [my reply] text]
    }
}

# An answer that is being generated; otherwise like a Generation. At its end the
# answer as far as it came is a message of the conversation.
oo::class create ::runcible::Answer {
    superclass ::runcible::AnswerParts ::runcible::Generation

    method Starter {} {return answer_start}
}

# An answer on the event loop, as a Stream.
oo::class create ::runcible::AnswerStream {
    superclass ::runcible::AnswerParts ::runcible::Stream

    method Starter {} {return mailbox_answer}
}

# A list of messages on top of a session. An answer of the model becomes one of
# the messages; each answer evaluates only what the session does not hold yet.
oo::class create ::runcible::Chat {
    superclass ::runcible::Speaker
    variable handle session

    # See the method chat of Session.
    constructor {ofSession given args} {
        set session $ofSession
        if {[lindex $args 0] eq "-handle"} {
            set handle [lindex $args 1]
        } else {
            set handle [::runcible::WithChatOptions [::runcible::Pairs $args] \
                [list ::runcible::native::chat_create $given]]
        }
    }

    method Idle {} {
        set open [next]
        if {[info object isa object $session]} {[info object namespace $session]::my EndLeft}
        return $open
    }

    # Adds messages in the shape of "messages" of OpenAI's chat completions, or
    # one: a list of dicts, a dict, or JSON. Members of dicts are texts, except
    # tool_calls.
    method add {messages} {
        ::runcible::native::chat_add [my Idle] [::runcible::MessagesJson $messages]
    }

    # Adds a message of the user.
    method say {text} {
        my add "{\"role\": \"user\", \"content\": [::runcible::JsonText $text]}"
    }

    # Adds the result of a call of a tool.
    method add_result {id text} {
        my add "{\"role\": \"tool\", \"tool_call_id\": [::runcible::JsonText $id],\
            \"content\": [::runcible::JsonText $text]}"
    }

    # Removes the last messages.
    method undo {{count 1}} {
        ::runcible::native::chat_undo [my Idle] $count
    }

    # Returns all messages, JSON.
    method messages {} {
        return [::runcible::native::chat_messages [my Idle]]
    }

    # Makes a second conversation with the same messages, on a fork of the
    # session.
    method fork {} {
        return [::runcible::Chat new "" "" -handle [::runcible::native::chat_fork [my Idle]]]
    }

    # Starts an Answer, which the caller destroys. Options as for Generation.
    method answer {args} {
        return [my Going [::runcible::Answer new [my Idle] "" {*}$args]]
    }

    # Starts an AnswerStream, on the event loop, which the caller destroys unless
    # it has a -command, which receives the parts.
    method stream {args} {
        return [my Going [::runcible::AnswerStream new [my Idle] "" {*}$args]]
    }

    # Adds a message of the user and returns the whole answer, see the method
    # reply of AnswerParts; blocks.
    method ask {text args} {
        my say $text
        set answer [my answer {*}$args]
        try {
            return [$answer reply]
        } finally {
            $answer destroy
        }
    }
}
