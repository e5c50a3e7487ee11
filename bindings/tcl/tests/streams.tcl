# Streams on Tcl's event loop.

it streams_many_at_once {
    set ::texts {}
    for {set seed 1} {$seed <= 16} {incr seed} {
        coroutine many$seed apply {{seed} {
            set stream [[[box] session] stream A -seed $seed -max_tokens 20]
            dict set ::texts $seed [$stream text]
            $stream destroy
        }} $seed
    }
    while {[dict size $::texts] < 16} {wait_for ::texts}
    # On a CPU what runs beside a session changes none of its bits.
    check {[[[box] session] generate A -seed 3 -max_tokens 20] eq [dict get $::texts 3]}
    check {[dict get $::texts 3] ne [dict get $::texts 4]}
}

it streams_the_event_loop_goes_on {
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

it streams_without_a_coroutine {
    # As vwait does.
    set stream [[[box] session] stream A -max_tokens 5 -seed 1]
    check {[$stream text] eq [[[box] session] generate A -max_tokens 5 -seed 1]}
    check {[dict get [$stream report] generated_tokens] == 5}
    $stream destroy
}

proc hear {stream what args} {
    lappend ::heard $what
    switch $what {
        piece {append ::said [lindex $args 0]}
        default {set ::last $args}
    }
}

it streams_to_a_command {
    set ::heard {}
    set ::said ""
    set stream [[[box] session] stream A -max_tokens 5 -seed 1 -command hear]
    check {[catch {$stream next piece} message] && [string match "*-command" $message]}
    wait_for ::last
    check {$::heard eq {piece piece piece piece piece end}}
    check {$::said eq [[[box] session] generate A -max_tokens 5 -seed 1]}
    check {[dict get [lindex $::last 0] reason] eq "length"}
    check {![info object isa object $stream]}
}

it streams_tell_errors_to_a_command {
    [endless] stream A -ignore_eos 1 -deadline 0.05 -command hear
    wait_for ::last
    check {[lindex $::heard end] eq "error"}
    check {[dict get [lindex $::last 1] -errorcode] eq {RUNCIBLE DEADLINE -13}}
    check {[dict get [lindex $::last 1] -report reason] eq "deadline"}
}

it streams_that_their_command_destroys {
    set session [endless]
    $session stream A -ignore_eos 1 -command {apply {{stream what args} {
        $stream destroy
        set ::last $what
    }}}
    wait_for ::last
    check {$::last eq "piece"}
    # The request goes on for a moment, and others wait for their turn.
    check {[$session generate B -max_tokens 2] ne ""}
}

it streams_whose_command_fails {
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
    while {$::last ne "end"} {wait_for ::last} ;# it goes on
    update
    interp bgerror {} $before
}

it streams_whose_command_runs_the_event_loop {
    set ::heard {}
    set ::said ""
    [[box] session] stream A -max_tokens 8 -seed 1 -command {apply {{stream what args} {
        after 5 {set ::awake 1}
        vwait ::awake
        hear $stream $what {*}$args
    }}}
    wait_for ::last
    check {$::said ne "" && [lindex $::heard end] eq "end"}
    check {[string length $::said] == [string length [[[box] session] generate A -max_tokens 8 -seed 1]]}
}

it streams_leaving_the_loop_cancels {
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

it streams_cancel {
    in_coroutine {{} {
        set stream [[endless] stream A -ignore_eos 1]
        $stream next piece
        $stream cancel
        check {[failure {$stream text}] eq "CANCELLED"}
        check {![$stream next piece]} ;# told once
        $stream destroy
    }}
}

it streams_deadline {
    in_coroutine {{} {
        set stream [[endless] stream A -ignore_eos 1 -deadline 0.05]
        check {[failure {$stream text}] eq "DEADLINE"}
        $stream destroy
    }}
}

it streams_that_are_destroyed {
    set session [endless]
    set stream [$session stream A -ignore_eos 1]
    $stream next piece
    $stream destroy
    check {[$session generate B -max_tokens 2] ne ""}
    update
}

it streams_two_coroutines_cannot_share {
    set stream [[endless] stream A -ignore_eos 1]
    coroutine first apply {{stream} {set ::first [failure {$stream text}]}} $stream
    coroutine second apply {{stream} {failure {$stream text}; set ::second $::failure}} $stream
    check {$::second eq "another coroutine waits for this stream"}
    $stream cancel
    wait_for ::first
    check {$::first eq "CANCELLED"}
    $stream destroy
}

it streams_who_else_resumes_does_no_harm {
    coroutine resumed apply {{} {
        set stream [[[box] session] stream A -max_tokens 5 -seed 1]
        set ::text [$stream text]
        $stream destroy
    }}
    for {set i 0} {$i < 10 && [namespace which resumed] ne ""} {incr i} resumed
    wait_for ::text
    check {$::text eq [[[box] session] generate A -max_tokens 5 -seed 1]}
}

it streams_whose_coroutine_is_gone {
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

it streams_hold_no_event_loop {
    # Nothing is watched without a stream.
    update
    check {[dict size $::runcible::streams] == 0}
    check {[chan event $::runcible::channel readable] eq ""}
}
