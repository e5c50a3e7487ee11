# Wrong values, closed objects, threads, forks, exits: no crash, no hang.

it faults_wrong_values_raise_value_errors {
    set backend [runcible::Backend new cpu]
    set session [[box] session]
    set tensor [runcible::Tensor zeros 2 $backend]
    foreach wrong [list \
        {runcible::Backend new cpu -memory_limit 18446744073709551615} \
        {runcible::Backend new cpu -nonsense 1} \
        {runcible::Backend new cpu "-x y::*" 1} \
        {runcible::Backend new cpu threads 1} \
        {runcible::Backend new cpu -threads} \
        {runcible::Backend new cpu -strict maybe} \
        {runcible::Backend new cpu -timeout soon} \
        {runcible::Backend new cpu -timeout NaN} \
        {runcible::Model new builtin:fable -backend cpu -cache_dtype f31} \
        {runcible::Session new model} \
        {runcible::Session new $backend} \
        {runcible::Session new ""} \
        {[box] session -context_length a} \
        {[box] tokenize A -add_special perhaps} \
        {[box] tokenize A -nonsense 1} \
        {$session generate A -logit_bias {1 b}} \
        {$session generate A -logit_bias {1}} \
        {$session generate A -prompt_tokens x} \
        {$session generate A -stop "\{"} \
        {$session generate A -stop [list "a\u0000b"]} \
        {$session generate A -stop_tokens 4294967296} \
        {$session generate A -echo perhaps} \
        {$session stream A -nonsense 1} \
        {$session decode -nonsense 1} \
        {runcible::Tensor new {1 a} $backend} \
        {runcible::Tensor new {1 2.5} $backend -dtype i32} \
        {runcible::Tensor new {1 2} $backend -dtype q9} \
        {runcible::Tensor random 2 $backend -distribution odd} \
        {$tensor fused_linear $tensor $backend} \
        {$tensor fused_linear $tensor "" odd} \
    ] {
        if {[catch {failure $wrong} name] || $name ne "VALUE"} {
            error "$wrong: $name"
        }
    }
    # Errors that Tcl itself raises.
    foreach wrong {
        {[box] detokenize {a b}}
        {[box] detokenize "\{"}
        {$session append_tokens 1.5}
        {$session truncate a}
        {runcible::Tensor zeros {1 1 1 1 1} $backend}
        {runcible::Tensor zeros a $backend}
        {runcible::Session restore_memory [box] nothing}
        {runcible::Model new "builtin:fa\u0000ble"}
    } {
        check {[catch $wrong]}
    }
    $backend destroy
}

it faults_disposed_names_are_errors {
    # The functions below the classes raise errors for disposed names, too.
    namespace eval ::runcible::native {
        set backend [backend_open cpu ""]
        dispose $backend
        dispose $backend
        dispose nothing
        foreach wrong {
            {backend_explain $backend}
            {backend_explain ""}
            {backend_explain _7f0000000000_p_rc_backend}
            {delete_backend $backend}
            {mailbox_take ""}
            {mailbox_take $backend}
            {mailbox_channel ""}
            {mailbox_channel}
            {generate_options_set_prompt "" A}
            {model_options_tell_progress ""}
            {tokenize "" A}
            {tokenize}
        } {
            if {![catch $wrong]} {error "$wrong was no error"}
        }
        set options [new_backend_options]
        delete_backend_options $options
        check {[catch {delete_backend_options $options}]}
    }
}

it faults_using_the_session_ends_a_generation_that_was_left {
    set session [endless]
    for {set i 0} {$i < 20} {incr i} {
        set generation [$session start A -ignore_eos 1]
        # The main program does not read it, so only destroying it ends it.
        coroutine reader$i apply {{generation} {$generation next piece; yield}} $generation
        check {[failure {$session append B}] eq "BUSY"}
        $generation destroy
        $session append B
        rename reader$i ""
    }
    set generation [$session start A -ignore_eos 1]
    $generation close
    $generation next piece
    $session append B
    $generation destroy
    set generation [$session start A -ignore_eos 1]
    coroutine gone apply {{generation} {$generation next piece}} $generation
    $session append B
}

it faults_errors_have_the_codes_of_the_system {
    set loop [file join $::env(TMPDIR) loop.gguf]
    file delete $loop
    exec ln -s loop.gguf $loop
    try {
        runcible::verify $loop
    } trap {RUNCIBLE IO -4 POSIX ELOOP} {message options} {
        check {[string first loop.gguf $message] >= 0}
    } finally {
        file delete $loop
    }
    try {
        runcible::verify $loop
    } trap {RUNCIBLE NOT_FOUND -3 POSIX ENOENT} {} {}
}

it faults_closed_session_raises_closed {
    set session [[box] session]
    $session close
    check {[$session closed]}
    check {[failure {$session start A}] eq "CLOSED"}
    check {$::failure eq "this Session is closed"}
    $session destroy
}

it faults_calls_after_the_end_do_no_harm {
    set generation [[[box] session] start A -max_tokens 1]
    $generation text
    check {![$generation next piece]}
    $generation cancel
    $generation close
    check {[$generation text] eq ""}
    $generation destroy
}

it faults_objects_are_closed_in_any_order {
    for {set i 0} {$i < 6} {incr i} {
        foreach how {close destroy} {
            set backend [runcible::Backend new cpu]
            set model [runcible::Model new builtin:fable -backend $backend]
            set session [$model session]
            set things [list $backend $model $session [$session fork] [$session start A] [$session stream A]]
            while {[llength $things]} {
                set at [expr {int(rand() * [llength $things])}]
                [lindex $things $at] $how
                set things [lreplace $things $at $at]
            }
        }
    }
    update
}

it faults_error_of_the_progress_command_is_raised {
    check {[catch {
        runcible::Model new builtin:fable -backend reference -progress {apply {{fraction} {
            throw MINE mine
        }}}
    } message options] == 1}
    check {$message eq "mine" && [dict get $options -errorcode] eq "MINE"}
    check {$::runcible::progress eq ""}
}

it faults_progress_command_may_load_a_model {
    runcible::Model new builtin:fable -backend reference -progress {apply {{fraction} {
        [runcible::Model new builtin:fable -backend cpu -progress list] destroy
    }}}
    return
}

it faults_exit_with_requests_in_flight {
    set program {
        set model [runcible::Model new builtin:fable -backend cpu]
        for {set i 0} {$i < 3} {incr i} {
            [[$model session -when_full shift] start A -ignore_eos 1] next piece
            [[$model session -when_full shift] stream A -ignore_eos 1] next piece
            [$model session -when_full shift] stream A -ignore_eos 1 -command list
        }
        after 20 {set ::awake 1}
        vwait ::awake
        puts done
    }
    foreach exit {"" exit {after 1 exit; vwait forever}} {
        check {[run_tcl $program$exit] eq "done"}
    }
}

it faults_handles_are_released_with_their_interpreter {
    # Each interpreter has separate handles, which are released with it.
    for {set i 0} {$i < 3} {incr i} {
        set child [interp create]
        $child eval [list set auto_path $::auto_path]
        check {[$child eval {
            package require runcible
            set model [runcible::Model new builtin:fable -backend cpu]
            set session [$model session -when_full shift]
            set stream [$session stream A -ignore_eos 1]
            $stream next piece
            [$model session] stream A -ignore_eos 1 -command list
            expr {$piece ne ""}
        }]}
        interp delete $child
    }
    update
}

it faults_progress_command_may_delete_its_interpreter {
    set child [interp create]
    $child eval [list set auto_path $::auto_path]
    interp alias $child suicide {} interp delete $child
    catch {$child eval {
        package require runcible
        set model [runcible::Model new builtin:fable -backend cpu -progress {apply {{fraction} suicide}}]
        $model session
    }}
    check {![interp exists $child]}
}

it faults_concurrent_threads_generate_the_same_texts {
    package require Thread
    set threads {}
    for {set seed 1} {$seed <= 4} {incr seed} {
        set thread [thread::create -joinable]
        lappend threads $thread
        thread::send -async $thread [list set auto_path $::auto_path]
        thread::send -async $thread [list set seed $seed]
        thread::send -async $thread {
            package require runcible
            set model [runcible::Model new builtin:fable -backend cpu]
            set stream [[$model session] stream A -seed $seed -max_tokens 20]
            $stream text
        } ::texts_of_threads($seed)
    }
    for {set seed 1} {$seed <= 4} {incr seed} {
        if {![info exists ::texts_of_threads($seed)]} {wait_for ::texts_of_threads($seed)}
        check {$::texts_of_threads($seed) eq [[[box] session] generate A -seed $seed -max_tokens 20]}
    }
    # Threads end with a stream in flight.
    foreach thread $threads {
        thread::send $thread {
            set stream [[$model session -when_full shift] stream A -ignore_eos 1]
            $stream next piece
        }
        thread::release $thread
        thread::join $thread
    }
}

it faults_blocked_thread_can_be_cancelled {
    # Runs in a separate program, because the thread also prints the error.
    set output [run_tcl {
        package require Thread
        tsv::set shared begun 0
        set thread [thread::create -joinable]
        thread::send $thread [list set auto_path $auto_path]
        thread::send -async $thread {
            package require runcible
            set model [runcible::Model new builtin:fable -backend cpu]
            [$model session -when_full shift] foreach piece A -ignore_eos 1 {
                tsv::set shared begun 1
            }
        } cancelled
        while {![tsv::get shared begun]} {after 1}
        thread::cancel $thread
        vwait cancelled
        puts "it said: $cancelled"
        catch {thread::release $thread}
        thread::join $thread
    }]
    check {[string match "*it said: eval canceled*" $output]}
}

it faults_child_of_a_fork_cannot_use_handles {
    load $::env(FORKING) Forking
    set ::session [[box] session]
    set ::generation [$::session start A -max_tokens 5]
    set ::stream [$::session stream A -max_tokens 5]
    check {[forking {
        foreach use {
            {$::session fork}
            {$::generation next piece}
            {$::generation cancel}
            {runcible::Backend new cpu}
            {[box] session}
        } {
            check {[failure $use] eq "CLOSED"}
            check {[string match "*child of a fork*" $::failure]}
        }
        $::stream destroy
        $::generation destroy
        $::session destroy
        [box] destroy
    }] == 0}
    check {[$::generation text] ne "" && [$::stream text] ne ""}
    $::stream destroy
}

it faults_memory_does_not_grow {
    # Runs 10000 generations in a separate Tcl, whose memory no other test has
    # used.
    set growth [run_tcl {
        set model [runcible::Model new builtin:fable -backend cpu]

        proc round {} {
            global model left
            for {set i 0} {$i < 50} {incr i} {
                set session [$model session]
                $session generate A -max_tokens 1 -stop x -logit_bias {5 -1.0}
                $session destroy
            }
            set left 50
            for {set i 0} {$i < 25} {incr i} {
                coroutine round$i apply {{session} {
                    set stream [$session stream A -max_tokens 1 -stop {x y}]
                    $stream foreach piece {}
                    $stream destroy
                    $session destroy
                    incr ::left -1
                }} [$model session]
                set session [$model session]
                $session stream A -max_tokens 1 -command [list apply {{session stream what args} {
                    if {$what eq "piece"} return
                    $session destroy
                    incr ::left -1
                }} $session]
            }
            while {$left > 0} {vwait ::left}
            for {set i 0} {$i < 10} {incr i} {catch {runcible::Backend new nosuch}}
        }

        proc resident {} { ;# bytes
            set file [open /proc/self/statm]
            set pages [lindex [read $file] 1]
            close $file
            return [expr {$pages * 4096}]
        }

        for {set i 0} {$i < 20} {incr i} round
        # A leak grows in every round. The allocator grows in steps, and for
        # longer with many threads.
        set growth [expr {1 << 20}]
        for {set turn 0} {$turn < 16 && $growth >= (1 << 20)} {incr turn} {
            set before [resident]
            for {set i 0} {$i < 20} {incr i} round
            set growth [expr {[resident] - $before}]
        }
        puts $growth
    }]
    check {$growth < (1 << 20)}
}
