# The cases of bindings/conformance/cases.json, and the report of them.
package require json
package require huddle
package require huddle::json

namespace eval cases {
    proc read_text {path} {
        set file [open $path]
        chan configure $file -encoding utf-8
        try {
            return [read $file]
        } finally {
            close $file
        }
    }
    proc read_json {path} {
        return [::json::json2dict [read_text $path]]
    }

    variable path $::env(RUNCIBLE_CASES)
    variable document [read_json $path]
    # The same with the types of its values.
    variable typed [huddle::json2huddle [read_text $path]]
    variable golden [read_json [file join [file dirname $path] [dict get $document golden]]]
    variable objects
    variable report [list "language\tTcl"]

    # What a step means by a value.
    proc value {given} {
        variable objects
        variable golden
        if {[catch {dict size $given} size] || $size != 1} {return $given}
        if {[dict exists $given file]} {return $objects([dict get $given file])}
        if {![dict exists $given golden]} {return $given}
        set found $golden
        foreach key [split [dict get $given golden] /] {
            set found [expr {[string is integer $key] ? [lindex $found $key] : [dict get $found $key]}]
        }
        return $found
    }

    proc step {step} {
        # Numbers and texts look alike here: tokens are told by their place, or by
        # what no prompt of the cases is.
        set prompt [expr {[dict exists $step prompt] ? [dict get $step prompt] : ""}]
        set is_tokens [expr {[string match *tokens* $prompt] || [string is integer -strict $prompt]}]
        set meant {}
        dict for {key given} $step {dict set meant $key [value $given]}
        if {$is_tokens} {
            dict set meant options prompt_tokens [dict get $meant prompt]
            dict set meant prompt ""
        }
        set action do_[dict get $meant do]
        if {![dict exists $meant raises]} {
            $action $meant
            return
        }
        try {
            $action $meant
        } trap RUNCIBLE {message options} {
            if {[lindex [dict get $options -errorcode] 1] ne [dict get $meant raises]} {
                return -options $options $message
            }
            if {[dict exists $meant says]} {check {[string first [dict get $meant says] $message] >= 0}}
            check {$message ne ""}
            if {[dict exists $meant names]} {check {[string first [dict get $meant names] $message] >= 0}}
            check {![regexp {\m(rc|RC)_|->} $message]}
            if {[dict exists $meant reason]} {
                check {[dict get $options -report reason] eq [dict get $meant reason]}
            }
            return
        }
        error "$step raised nothing"
    }

    proc options {step {key options}} {
        set options {}
        if {[dict exists $step $key]} {
            dict for {name value} [dict get $step $key] {
                if {$name eq "template_arguments"} {set value [json $step $key $name]}
                if {$name eq "grammar"} {set value [object [dict get $step $key] grammar]}
                lappend options -$name $value
            }
        }
        return $options
    }

    # A part of a step as JSON.
    proc json {step args} {
        variable typed
        return [huddle jsondump [huddle get $typed cases {*}[dict get $step place] {*}$args] {} {}]
    }

    proc given {step key {otherwise ""}} {
        return [expr {[dict exists $step $key] ? [dict get $step $key] : $otherwise}]
    }

    proc object {step key} {
        variable objects
        return $objects([dict get $step $key])
    }

    proc keep {step object} {
        variable objects
        set objects([dict get $step as]) $object
    }

    proc do_load {step} {
        set backend [runcible::Backend new [dict get $step backend] {*}[options $step backend_options]]
        if {[dict exists $step hub]} {
            keep $step [runcible::from_hub [dict get $step hub] -backend $backend]
        } else {
            keep $step [runcible::Model new [given $step path builtin:fable] -backend $backend]
        }
    }

    proc near {row expected} {
        foreach number [lrange $row 0 [expr {[llength $expected] - 1}]] wanted $expected {
            check {abs($number - $wanted) < 2e-3}
        }
    }

    proc do_embed {step} {
        set rows [[object $step model] embed [dict get $step texts]]
        check {[llength $rows] == [llength [dict get $step expect]]}
        foreach row $rows expected [dict get $step expect] {near $row $expected}
    }

    proc do_rerank {step} {
        set scores [[object $step model] rerank [dict get $step query] [dict get $step documents]]
        check {[llength $scores] == [llength [dict get $step expect]]}
        near $scores [dict get $step expect]
    }

    proc do_report {step} {
        set report [[object $step model] report]
        dict for {name expected} [dict get $step expect] {
            check {[dict get $report $name] eq $expected}
        }
    }

    proc do_tokenize {step} {
        set tokens [[object $step model] tokenize [dict get $step text] -add_special 0]
        check {$tokens eq [dict get $step expect]}
    }

    proc do_detokenize {step} {
        check {[[object $step model] detokenize [dict get $step tokens]] eq [dict get $step expect]}
    }

    proc do_session {step} {
        keep $step [[object $step model] session {*}[options $step]]
    }

    proc check_text {step text} {
        check {$text eq [given $step expect $text]}
        check {$text ne ""}
        check {[string first $text [given $step expect_start_of $text]] == 0}
    }

    proc do_generate {step} {
        set text [[object $step session] generate [given $step prompt] {*}[options $step] -report report]
        check_text $step $text
        check {[dict get $report reason] eq [dict get $step reason]}
    }

    # Within a coroutine, on the event loop.
    proc do_stream {step} {
        set stream [[object $step session] stream [given $step prompt] {*}[options $step]]
        set pieces {}
        try {
            $stream foreach piece {
                lappend pieces $piece
                if {[llength $pieces] == [given $step cancel_after 0]} {$stream cancel}
            }
            check_text $step [join $pieces ""]
            check {[llength $pieces] >= [given $step pieces 0]}
            check {[dict get [$stream report] reason] eq [dict get $step reason]}
        } finally {
            $stream destroy
        }
    }

    # Each step in a coroutine of its own; the last to end goes on with this one.
    proc do_together {step} {
        variable left [llength [dict get $step steps]]
        variable failure {}
        variable waiting ""
        foreach each [dict get $step steps] {
            coroutine together[incr i] apply {{each} {
                variable left
                variable failure
                variable waiting
                if {[catch {step $each} message options]} {set failure [list $options $message]}
                incr left -1
                if {$left == 0 && $waiting ne ""} {$waiting}
            } ::cases} $each
        }
        if {$left > 0} {
            set waiting [info coroutine]
            yield
        }
        if {$failure ne ""} {return -options [lindex $failure 0] [lindex $failure 1]}
    }

    proc do_tokens {step} {
        # The end token ends a text and is no part of the session.
        set tokens [[object $step session] tokens]
        set expected [dict get $step expect]
        check {$tokens eq [lrange $expected 0 [llength $tokens]-1]}
        check {[llength $tokens] >= [llength $expected] - 1}
    }

    proc do_append {step} {
        if {[dict exists $step tokens]} {
            [object $step session] append_tokens [dict get $step tokens]
        } else {
            [object $step session] append [dict get $step text]
        }
    }

    proc do_statuses {step} {
        dict for {name number} [dict get $step expect] {
            check {[set ::runcible::native::E_$name] == $number}
            check {[runcible::native::status_name $number] eq "RC_E_$name"}
        }
    }

    proc do_file {step} {
        close [file tempfile path]
        set file [open $path w]
        puts -nonewline $file [dict get $step text]
        close $file
        keep $step $path
    }

    proc do_start {step} {
        keep $step [[object $step session] start [dict get $step prompt] {*}[options $step]]
    }

    proc do_finish {step} {
        set generation [object $step generation]
        $generation close
        check {[dict get [$generation report] reason] eq "cancelled"}
    }

    proc do_close {step} {
        [object $step object] close
    }

    proc do_save {step} {
        close [file tempfile path]
        [object $step session] save $path
        keep $step $path
    }

    proc do_restore {step} {
        keep $step [runcible::Session restore [object $step model] [object $step saved]]
    }

    proc do_fork {step} {
        keep $step [[object $step session] fork]
    }

    proc do_decode {step} {
        [object $step session] decode -all_logits [dict get $step all_logits]
    }

    proc do_logits {step} {
        set rows [[object $step session] logits]
        check {[llength $rows] == [dict get $step rows]}
        set row [lindex $rows [dict get $step row]]
        check {[llength $row] == [dict get $step vocabulary]}
        set largest [tcl::mathfunc::max {*}$row]
        check {[lsearch -exact $row $largest] == [dict get $step largest]}
        set expected [dict get $step sum]
        set off [expr {[tcl::mathop::+ {*}$row] - $expected}]
        check {abs($off) <= abs($expected) * [dict get $step tolerance]}
    }

    proc do_grammar {step} {
        set kind [dict get $step kind]
        set text [given $step text [given $step choices]]
        if {$kind eq "json_schema"} {
            # A list that is a constant has no types in a dict.
            set schema [dict get $step schema]
            set text [expr {[dict exists $schema const] ? [json $step schema] : $schema}]
        }
        keep $step [runcible::Grammar new [object $step model] $kind $text {*}[options $step]]
    }

    proc do_chat {step} {
        keep $step [[object $step session] chat {*}[options $step]]
    }

    proc do_add {step} {
        [object $step chat] add [json $step messages]
    }

    proc do_undo {step} {
        [object $step chat] undo [dict get $step count]
    }

    proc do_messages {step} {
        check {[::json::json2dict [[object $step chat] messages]] eq [dict get $step expect]}
    }

    proc do_fork_chat {step} {
        keep $step [[object $step chat] fork]
    }

    proc check_reply {step reply} {
        set expected [dict get $step expect]
        check {[dict get $reply text] eq [dict get $expected text]}
        check {[dict get $reply reasoning] eq [dict get $expected reasoning]}
        set calls [lmap call [dict get $reply calls] {
            dict set call arguments [::json::json2dict [dict get $call arguments]]
        }]
        check {$calls eq [dict get $expected calls]}
        check {[dict get $reply report reason] eq [dict get $step reason]}
    }

    # Within a coroutine, on the event loop.
    proc do_answer {step} {
        set answer [[object $step chat] stream {*}[options $step]]
        try {
            check_reply $step [$answer reply]
        } finally {
            $answer destroy
        }
    }

    proc do_ask {step} {
        check_reply $step [[object $step chat] ask [dict get $step text] {*}[options $step]]
    }

    proc do_tensor {step} {
        set shape [dict get $step shape]
        set numbers [given $step values [lrepeat [tcl::mathop::* {*}$shape] [given $step fill]]]
        keep $step [runcible::Tensor new $numbers [runcible::Backend new [dict get $step backend]] -shape $shape]
    }

    proc do_matmul {step} {
        keep $step [[object $step a] matmul [object $step b]]
    }

    proc do_quantize {step} {
        [object $step tensor] quantize [dict get $step dtype]
    }

    proc do_read {step} {
        check {[[object $step tensor] shape] eq [dict get $step expect_shape]}
        foreach number [[object $step tensor] read] expected [dict get $step expect] {
            check {$number == $expected}
        }
    }

    source [file join [file dirname [file normalize [info script]]] case_graphs.tcl]

    proc run {case number} {
        variable objects
        variable report
        array unset objects
        try {
            in_coroutine [list {case number place} {
                foreach step [dict get $case steps] {
                    step [dict merge $step [list place [list $number steps [incr place]]]]
                }
            } ::cases] $case [expr {$number - 1}] -1
            lappend report "passed\t[dict get $case name]"
            return
        } finally {
            foreach {name object} [array get objects] {
                if {[info object isa object $object]} {$object destroy} else {file delete $object}
            }
        }
    }

    # What Tcl cannot, and why.
    variable missing {"pinned memory" "Tcl has no memory that stays where it is"}

    foreach case [dict get $document cases] {
        if {[dict exists $missing [dict get $case name]]} {
            lappend report "missing\t[dict get $case name]\t[dict get $missing [dict get $case name]]"
            continue
        }
        ::tcltest::test cases-[incr number] [dict get $case name] -body [list ::cases::run $case $number]
    }
    if {[info exists ::env(RUNCIBLE_CASES_REPORT)]} {
        set file [open $::env(RUNCIBLE_CASES_REPORT) w]
        puts $file [join $report \n]
        close $file
    }
}
