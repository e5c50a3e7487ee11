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

# A text that is being generated. `next` returns the pieces; all pieces in order
# are the whole text. If the generation did not succeed, the call after the last
# piece raises an error: {RUNCIBLE DEADLINE -13}, {RUNCIBLE CANCELLED -12}, ...,
# with the report as -report among the options of the error.
#
# If a coroutine, or the program outside of any, has read a generation and then
# uses the session for something else, the generation ends; reading it further
# raises {RUNCIBLE CANCELLED -12}.
oo::class create ::runcible::Generation {
    variable request piece report failure reader waiting

    # Starts a generation of a session's handle; see Session.
    # :api: members rc_generate_options
    # Further options: -prompt_tokens, instead of the text; -stop, a list of
    # texts; -stop_tokens; -logit_bias, a dict of numbers by token; -grammar, a
    # Grammar; -add_special and -parse_special.
    constructor {session prompt args} {
        my Begin $session $prompt [::runcible::Pairs $args]
    }

    method Begin {session prompt pairs} {
        set request [::runcible::WithGenerateOptions $prompt $pairs \
            [list ::runcible::native::[my Starter] $session]]
    }

    # Returns the name of the function that starts it.
    method Starter {} {return request_start}

    # Returns the value of an event that is a piece.
    method Shown {event} {
        return [dict get $event text]
    }

    # Returns the next event.
    method Event {} {
        while 1 {
            # Waits for a limited time, so that the thread or interpreter can be cancelled.
            set event [::runcible::native::request_next $request 100]
            if {$event ne ""} {return $event}
        }
    }

    # Stores an event; returns whether it was a piece.
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

    # Returns whether there is another piece, which is stored in a variable.
    method next {varName} {
        upvar 1 $varName text
        set reader [info coroutine]
        if {![info exists report]} {
            set waiting 1
            try {
                set event [my Event]
            } finally {
                catch {set waiting 0} ;# fails if the generation was destroyed meanwhile
            }
            if {[my Took $event]} {
                set text [my Shown $piece]
                return 1
            }
        }
        if {[info exists failure]} {
            set raised $failure
            unset failure
            return {*}$raised
        }
        return 0
    }

    # Runs a body for each piece; leaving it cancels the rest.
    method foreach {varName body} {
        tailcall ::runcible::Iterate [self] $varName $body close
    }

    # Returns the rest of the text at once.
    method text {} {
        set whole ""
        while {[my next text]} {append whole $text}
        return $whole
    }

    # Returns, for the last piece, the tokens generated since the one before.
    method tokens {} {
        return [dict get $piece tokens]
    }

    # Returns, for the last piece, with -logprobs, a flat list of its tokens, each
    # followed by the logarithm of its probability.
    method logprobs {} {
        return [dict get $piece logprobs]
    }

    # Returns a list of such lists: the most probable tokens at the position of
    # each token.
    method top_logprobs {} {
        return [dict get $piece top_logprobs]
    }

    # Returns the report of the end, with times and counts; "" before the end.
    method report {} {
        return [expr {[info exists report] ? $report : ""}]
    }

    # Returns whether the reader uses the session for something else now, or is
    # gone.
    method IsLeft {} {
        return [expr {[info exists reader] && ![info exists report] && !$waiting
            && ($reader eq [info coroutine]
                || ($reader ne "" && [namespace which -command $reader] eq ""))}]
    }

    # Ends the generation, and returns when the session can be used again.
    method End {} {
        ::runcible::native::request_cancel $request
        ::runcible::native::request_wait $request -1
    }

    # Asks the generation to end; {RUNCIBLE CANCELLED -12} is raised after the
    # last piece.
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
            # Fails in the child of a fork.
            if {![info exists report]} {catch {my End}}
            ::runcible::native::dispose $request
        }
    }
}
