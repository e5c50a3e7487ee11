# Streams on Tcl's event loop.

it streams_let_the_event_loop_run {
    set ::ticks 0
    proc tick {stream} {
        if {[incr ::ticks] == 5} {$stream cancel} else {after 1 [list tick $stream]}
    }
    in_coroutine {{} {
        set stream [[endless] stream A -ignore_eos 1]
        tick $stream
        set ::failure [catch {$stream foreach piece {}}]
        $stream destroy
    }}
    check {$::failure && $::ticks == 5}
}

it streams_need_no_coroutine {
    # The event loop runs, as in vwait.
    set stream [[[box] session] stream A -max_tokens 5 -seed 1]
    check {[$stream text] eq [[[box] session] generate A -max_tokens 5 -seed 1]}
    check {[dict get [$stream report] generated_tokens] == 5}
    $stream destroy
}

proc receive_event {stream what args} {
    lappend ::received $what
    switch $what {
        piece {append ::said [lindex $args 0]}
        default {set ::last $args}
    }
}

it streams_pass_their_pieces_to_a_command {
    set ::received {}
    set ::said ""
    set stream [[[box] session] stream A -max_tokens 5 -seed 1 -command receive_event]
    check {[catch {$stream next piece} message] && [string match "*-command" $message]}
    wait_for ::last
    check {$::received eq {piece piece piece piece piece end}}
    check {$::said eq [[[box] session] generate A -max_tokens 5 -seed 1]}
    check {[dict get [lindex $::last 0] reason] eq "length"}
    check {![info object isa object $stream]}
}

it streams_pass_errors_to_a_command {
    [endless] stream A -ignore_eos 1 -deadline 0.05 -command receive_event
    wait_for ::last
    check {[lindex $::received end] eq "error"}
    check {[dict get [lindex $::last 1] -errorcode] eq {RUNCIBLE DEADLINE -13}}
    check {[dict get [lindex $::last 1] -report reason] eq "deadline"}
}

it streams_may_be_destroyed_by_their_command {
    set session [endless]
    $session stream A -ignore_eos 1 -command {apply {{stream what args} {
        $stream destroy
        set ::last $what
    }}}
    wait_for ::last
    check {$::last eq "piece"}
    # The request goes on for a moment, and other requests wait for their turn.
    check {[$session generate B -max_tokens 2] ne ""}
}

it streams_go_on_after_an_error_of_their_command {
    proc bgerror_of_test {message options} {set ::background [list $message $options]}
    set before [interp bgerror {}]
    interp bgerror {} bgerror_of_test
    set session [[box] session]
    $session stream A -max_tokens 3 -command {apply {{stream what args} {
        set ::last $what
        if {$what eq "piece"} {throw {MINE} mine}
    }}}
    wait_for ::background
    check {[lindex $::background 0] eq "mine"}
    check {[dict get [lindex $::background 1] -errorcode] eq "MINE"}
    while {$::last ne "end"} {wait_for ::last} ;# the stream goes on
    update
    interp bgerror {} $before
}

it streams_have_commands_that_may_run_the_event_loop {
    set ::received {}
    set ::said ""
    [[box] session] stream A -max_tokens 8 -seed 1 -command {apply {{stream what args} {
        after 5 {set ::awake 1}
        vwait ::awake
        receive_event $stream $what {*}$args
    }}}
    wait_for ::last
    check {$::said ne "" && [lindex $::received end] eq "end"}
    check {[string length $::said] == [string length [[[box] session] generate A -max_tokens 8 -seed 1]]}
}

it streams_are_cancelled_when_their_loop_is_left {
    set session [endless]
    in_coroutine {{session} {
        set stream [$session stream A -ignore_eos 1]
        $stream foreach piece break
        check {[dict get [$stream report] reason] eq "cancelled"}
        $session append B ;# no longer busy
        $stream destroy
        set stream [$session stream A -ignore_eos 1]
        catch {$stream foreach piece {error mine}} message
        check {$message eq "mine"}
        $session append B
        $stream destroy
    }} $session
}

it streams_that_are_cancelled_raise_cancelled {
    in_coroutine {{} {
        set stream [[endless] stream A -ignore_eos 1]
        $stream next piece
        $stream cancel
        check {[failure {$stream text}] eq "CANCELLED"}
        check {![$stream next piece]} ;# the error is raised once
        $stream destroy
    }}
}

it streams_end_at_their_deadline {
    in_coroutine {{} {
        set stream [[endless] stream A -ignore_eos 1 -deadline 0.05]
        check {[failure {$stream text}] eq "DEADLINE"}
        $stream destroy
    }}
}

it streams_that_are_destroyed_end {
    set session [endless]
    set stream [$session stream A -ignore_eos 1]
    $stream next piece
    $stream destroy
    check {[$session generate B -max_tokens 2] ne ""}
    update
}

it streams_cannot_be_shared_by_two_coroutines {
    set stream [[endless] stream A -ignore_eos 1]
    coroutine first apply {{stream} {set ::first [failure {$stream text}]}} $stream
    coroutine second apply {{stream} {failure {$stream text}; set ::second $::failure}} $stream
    check {$::second eq "another coroutine waits for this stream"}
    $stream cancel
    wait_for ::first
    check {$::first eq "CANCELLED"}
    $stream destroy
}

it streams_survive_a_coroutine_resumed_otherwise {
    coroutine resumed apply {{} {
        set stream [[[box] session] stream A -max_tokens 5 -seed 1]
        set ::text [$stream text]
        $stream destroy
    }}
    for {set i 0} {$i < 10 && [namespace which resumed] ne ""} {incr i} resumed
    wait_for ::text
    check {$::text eq [[[box] session] generate A -max_tokens 5 -seed 1]}
}

it streams_can_be_destroyed_after_their_coroutine {
    set session [endless]
    coroutine gone apply {{session} {
        set ::stream [$session stream A -ignore_eos 1]
        $::stream foreach piece {}
    }} $session
    rename gone ""
    update
    $::stream destroy
    check {[$session generate B -max_tokens 2] ne ""}
}

it streams_watch_nothing_after_their_end {
    # The channel is not watched without a stream.
    update
    check {[dict size $::runcible::streams] == 0}
    check {[chan event $::runcible::channel readable] eq ""}
}
