# Sessions, the state of one conversation; see runcible/session.h.

# Calls {*}$command with the library's options of a session.
proc ::runcible::WithSessionOptions {options command} {
    return [WithOptions session_options [Pairs $options] $command]
}

# A handle that generates, one text at a time.
oo::class create ::runcible::Speaker {
    superclass ::runcible::Handle
    variable going

    # Stores a Generation that was started.
    method Going {generation} {
        lappend going $generation
        return $generation
    }

    # Ends the generations that were left: a reader that then uses the session or
    # the conversation has left its generation.
    method EndLeft {} {
        set still {}
        foreach generation [expr {[info exists going] ? $going : {}}] {
            if {![info object isa object $generation]} continue
            if {[[info object namespace $generation]::my IsLeft]} {
                [info object namespace $generation]::my End
            } elseif {[$generation report] eq ""} {
                lappend still $generation
            }
        }
        set going $still
    }

    # Returns the handle for calls that need the session to themselves.
    method Idle {} {
        set open [my Handle]
        my EndLeft
        return $open
    }
}

oo::class create ::runcible::Session {
    superclass ::runcible::Speaker
    variable handle

    # Makes an empty session of a Model.
    # :api: members rc_session_options
    constructor {model args} {
        if {[lindex $args 0] eq "-handle"} {
            set handle [lindex $args 1]
        } else {
            set handle [::runcible::WithSessionOptions $args [list \
                ::runcible::native::session_create [::runcible::Need $model Model model]]]
        }
    }

    # Generates, and returns the text when it is complete; blocks. Options as for
    # Generation, and -report, the name of a variable for the report.
    method generate {{prompt ""} args} {
        set pairs [::runcible::Pairs $args]
        if {[dict exists $pairs report]} {
            upvar 1 [dict get $pairs report] report
            set args [dict remove $args -report]
        }
        set generation [my start $prompt {*}$args]
        try {
            set text [$generation text]
            set report [$generation report]
            return $text
        } finally {
            $generation destroy
        }
    }

    # Runs a body for each piece of a text as it arrives; blocks. Leaving it
    # cancels the rest. Options as for Generation come before the body.
    method foreach {varName prompt args} {
        set generation [my start $prompt {*}[lrange $args 0 end-1]]
        tailcall ::runcible::Iterate $generation $varName [lindex $args end] {close destroy}
    }

    # Starts a Generation, which the caller destroys.
    method start {{prompt ""} args} {
        return [my Going [::runcible::Generation new [my Idle] $prompt {*}$args]]
    }

    # Starts a Stream, on the event loop, which the caller destroys unless it has a
    # -command.
    method stream {{prompt ""} args} {
        return [my Going [::runcible::Stream new [my Idle] $prompt {*}$args]]
    }

    # Begins a conversation without messages on top of the session, a Chat.
    # Options: -tools, a list of dicts in the shape of "tools" of OpenAI's chat
    # completions, or JSON; -template_name, a variant in the file or a well-known
    # template (chatml, llama3, zephyr, ...), or -template_text, its source;
    # -template_arguments, a JSON object; -thinking, whether to think before
    # answers; -now, the time that templates which write the date use as the
    # present.
    method chat {args} {
        return [::runcible::Chat new [self] [my Idle] {*}$args]
    }

    # Adds a text, which the next decode or generation evaluates. Options:
    # -add_special, -parse_special.
    method append {text args} {
        set pairs [::runcible::Pairs $args]
        set flags [::runcible::TokenizeFlags pairs]
        ::runcible::RefuseRest $pairs
        ::runcible::native::session_append_text [my Idle] $text $flags
    }

    # Adds tokens, which the next decode or generation evaluates.
    method append_tokens {tokens} {
        ::runcible::native::session_append [my Idle] $tokens
    }

    # Evaluates the tokens that were appended; with -all_logits 1 it keeps the
    # logits of every token and not only of the last.
    method decode {args} {
        set pairs [dict merge {all_logits 0} [::runcible::Pairs $args]]
        ::runcible::RefuseRest [dict remove $pairs all_logits]
        set flags [expr {[dict get $pairs all_logits] ? $::runcible::native::DECODE_ALL_LOGITS : 0}]
        ::runcible::native::session_decode [my Idle] $flags
    }

    # Returns the logits of the last decode: a list of rows, one, or one for each
    # token evaluated, each a list of numbers by token.
    method logits {} {
        lassign [::runcible::native::session_logits [my Idle]] bytes rows columns
        set made {}
        for {set row 0} {$row < $rows} {incr row} {
            binary scan $bytes "@[expr {4 * $row * $columns}]f$columns" numbers
            lappend made $numbers
        }
        return $made
    }

    # :api: methods rc_session

    # Restores a session that was saved to a file. Options as for a new one.
    self method restore {model path args} {
        return [my new "" -handle [::runcible::WithSessionOptions $args \
            [list ::runcible::native::session_restore \
                [::runcible::Need $model Model model] $path]]]
    }

    # Restores a session from the bytes that save_memory returned.
    self method restore_memory {model saved args} {
        return [my new "" -handle [::runcible::WithSessionOptions $args \
            [list ::runcible::native::session_restore_memory \
                [::runcible::Need $model Model model] $saved]]]
    }
}
