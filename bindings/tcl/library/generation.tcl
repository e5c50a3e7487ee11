# Generating text: options, and the iterator that blocks.

# Calls {*}$command with the library's options of a generation.
proc ::runcible::WithGenerateOptions {prompt pairs command} {
    dict set pairs tokenize_flags [TokenizeFlags pairs]
    set others {}
    foreach name {prompt_tokens stop stop_tokens logit_bias grammar} {
        if {[dict exists $pairs $name]} {
            dict set others $name [dict get $pairs $name]
            dict unset pairs $name
        }
    }
    WithOptions generate_options $pairs [list apply {{prompt others command options} {
        native::generate_options_set_prompt $options $prompt
        dict for {name value} $others {
            if {[catch {SetGenerateOption $options $name $value} message]} {
                Refuse "-$name: $message"
            }
        }
        {*}$command $options
    } ::runcible} $prompt $others $command]
}

proc ::runcible::SetGenerateOption {options name value} {
    switch $name {
        prompt_tokens {native::generate_options_set_prompt_tokens $options $value}
        stop_tokens {native::generate_options_set_stop_tokens $options $value}
        grammar {native::generate_options_set_grammar $options [Need $value Grammar -grammar]}
        stop {
            foreach text $value {native::generate_options_add_stop $options $text}
        }
        logit_bias {
            dict for {token bias} $value {
                native::generate_options_add_logit_bias $options $token $bias
            }
        }
    }
}

# Runs a body for each piece, in the caller's scope; then calls methods that end
# the generation.
proc ::runcible::Iterate {generation varName body methods} {
    upvar 1 $varName piece
    try {
        while {[$generation next piece]} {
            switch [catch {uplevel 1 $body} result options] {
                0 - 4 {}
                3 break
                default {
                    dict incr options -level
                    return -options $options $result
                }
            }
        }
    } finally {
        foreach method $methods {$generation $method}
    }
}

# A text in the making. `next` gives the pieces, which one after the other are the
# whole text. After the last, an end that is no success is an error: {RUNCIBLE
# DEADLINE -13}, {RUNCIBLE CANCELLED -12}, ..., with the report as -report among the
# options of the error.
#
# One that a coroutine has read, or who runs none, is ended when they use the session
# for something else; who reads on then gets {RUNCIBLE CANCELLED -12}.
oo::class create ::runcible::Generation {
    variable request piece report failure reader waiting

    # Of a session's handle; see Session.
    # :api: members rc_generate_options
    # And -prompt_tokens, instead of the text; -stop, a list of texts; -stop_tokens;
    # -logit_bias, a dict of numbers by token; -grammar, a Grammar; -add_special and
    # -parse_special.
    constructor {session prompt args} {
        my Begin $session $prompt [::runcible::Pairs $args]
    }

    method Begin {session prompt pairs} {
        set request [::runcible::WithGenerateOptions $prompt $pairs \
            [list ::runcible::native::[my Starter] $session]]
    }

    # The function that starts it.
    method Starter {} {return request_start}

    # What is given of an event.
    method Shown {event} {
        return [dict get $event text]
    }

    # The next event.
    method Event {} {
        while 1 {
            # Not for ever, so that the thread or interpreter can be cancelled.
            set event [::runcible::native::request_next $request 100]
            if {$event ne ""} {return $event}
        }
    }

    # Takes note of an event; whether it was a piece.
    method Took {event} {
        if {[dict exists $event text]} {
            set piece $event
            return 1
        }
        set report [dict get $event report]
        set status [dict get $event status]
        if {$status != 0} {
            set message [dict get $event message]
            if {$message eq ""} {
                set message "the request ended: [dict get $report reason]"
            }
            set name [string map {RC_E_ {}} [::runcible::native::status_name $status]]
            set failure [list -code error -errorcode [list RUNCIBLE $name $status] \
                -report $report $message]
        }
        return 0
    }

    # Whether there is another piece, which is put into a variable.
    method next {varName} {
        upvar 1 $varName text
        set reader [info coroutine]
        if {![info exists report]} {
            set waiting 1
            try {
                set event [my Event]
            } finally {
                catch {set waiting 0} ;# unless it was destroyed meanwhile
            }
            if {[my Took $event]} {
                set text [my Shown $piece]
                return 1
            }
        }
        if {[info exists failure]} {
            set told $failure
            unset failure
            return {*}$told
        }
        return 0
    }

    # Runs a body for each piece; leaving it cancels the rest.
    method foreach {varName body} {
        tailcall ::runcible::Iterate [self] $varName $body close
    }

    # The rest of the text at once.
    method text {} {
        set whole ""
        while {[my next text]} {append whole $text}
        return $whole
    }

    # Of the last piece: the tokens generated since the one before.
    method tokens {} {
        return [dict get $piece tokens]
    }

    # Of the last piece, with -logprobs: tokens and the logarithms of their
    # probabilities by turns.
    method logprobs {} {
        return [dict get $piece logprobs]
    }

    # A list of such lists: of the most probable ones in the place of each token.
    method top_logprobs {} {
        return [dict get $piece top_logprobs]
    }

    # How it ended, times and counts; "" before the end.
    method report {} {
        return [expr {[info exists report] ? $report : ""}]
    }

    # Whether who reads it has turned to something else, or is gone.
    method IsLeft {} {
        return [expr {[info exists reader] && ![info exists report] && !$waiting
            && ($reader eq [info coroutine]
                || ($reader ne "" && [namespace which -command $reader] eq ""))}]
    }

    # Ends it, and returns when the session is free of it.
    method End {} {
        ::runcible::native::request_cancel $request
        ::runcible::native::request_wait $request -1
    }

    # Asks the generation to end; {RUNCIBLE CANCELLED -12} after the last piece.
    method cancel {} {
        if {![info exists report]} {::runcible::native::request_cancel $request}
    }

    # Cancels and waits for the end; pieces not yet read are dropped.
    method close {} {
        my cancel
        while {![info exists report]} {my Took [my Event]}
        unset -nocomplain failure
    }

    destructor {
        if {[info exists request]} {
            # The child of a fork refuses.
            if {![info exists report]} {catch {my End}}
            ::runcible::native::dispose $request
        }
    }
}
