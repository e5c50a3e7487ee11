# Runs the cases in bindings/conformance; see README.md there. Steps are values of
# huddle, which knows the types of JSON.
package require json
package require huddle
package require huddle::json

namespace eval cases {
    proc read_json {path} {
        set file [open $path]
        chan configure $file -encoding utf-8
        try {
            return [huddle::json2huddle [read $file]]
        } finally {
            close $file
        }
    }

    variable path $::env(RUNCIBLE_CASES)
    variable document [read_json $path]
    variable golden [read_json [file join [file dirname $path] [huddle get_stripped $document golden]]]
    variable objects
    variable paths
    variable report [list "language\tTcl"]

    proc has {step name} {
        return [expr {$name in [huddle keys $step]}]
    }

    # Returns the nodes of a list, or of the value that a step has by a name.
    proc nodes {node} {
        set nodes {}
        for {set i 0} {$i < [huddle llength $node]} {incr i} {lappend nodes [huddle get $node $i]}
        return $nodes
    }
    proc given {step name} {
        return [expr {[has $step $name] ? [nodes [huddle get $step $name]] : {}}]
    }

    # Resolves a value of a step: "$name" is an object.
    proc value {node} {
        variable objects
        variable golden
        variable paths
        switch [huddle type $node] {
            list {return [lmap each [nodes $node] {value $each}]}
            dict {
                set made {}
                foreach name [huddle keys $node] {dict set made $name [value [huddle get $node $name]]}
                return $made
            }
            null {return ""}
        }
        set text [huddle get_stripped $node]
        if {[huddle type $node] ne "string" || ![string match {$*} $text]} {return $text}
        set rest [lassign [split [string range $text 1 end] /] kind]
        switch $kind {
            golden {return [value [huddle get $golden {*}$rest]]}
            backend {return [runcible::Backend new {*}$rest]}
            path {
                if {![info exists paths($rest)]} {close [file tempfile paths($rest)]}
                return $paths($rest)
            }
        }
        set found $objects($kind)
        foreach name $rest {set found [member $found $name]}
        return $found
    }

    proc json {node} {
        return [huddle jsondump $node {} {}]
    }

    # Returns the options; a value that has no types in a dict is JSON.
    proc options {step} {
        set options {}
        if {![has $step options]} return
        set given [huddle get $step options]
        foreach name [huddle keys $given] {
            set node [huddle get $given $name]
            set value [expr {$name eq "template_arguments" ? [json $node] : [value $node]}]
            if {$name eq "logit_bias"} {
                set value [concat {*}[lmap pair $value {lassign $pair token bias; list $token [expr {$bias eq "" ? "-Inf" : $bias}]}]]
            }
            lappend options -$name $value
        }
        return $options
    }

    proc step {step} {
        if {[has $step except] && "Tcl" in [value [huddle get $step except]]} return
        if {![has $step raises]} {return [act $step]}
        set raises [huddle get_stripped $step raises]
        try {
            act $step
        } trap RUNCIBLE {message options} {
            set code [lindex [dict get $options -errorcode] 1]
            if {$code ne [expr {$raises in {TYPE VALUE} ? "VALUE" : $raises}]} {return -options $options $message}
            if {[has $step says]} {check {[string first [huddle get_stripped $step says] $message] >= 0}}
            if {[has $step names]} {check {[string first [huddle get_stripped $step names] $message] == 0}}
            check {$message ne ""}
            check {![regexp {\m(rc|RC)_|->} $message]}
            if {[has $step retries]} {
                check {("RETRY_AFTER" in [dict get $options -errorcode]) == !![huddle get_stripped $step retries]}
            }
            if {[has $step reason]} {
                check {[dict get $options -report reason] eq [huddle get_stripped $step reason]}
            }
            return
        }
        error "[json $step] raised nothing"
    }

    proc act {step} {
        variable objects
        set found [call $step]
        if {[has $step as]} {
            set names [value [huddle get $step as]]
            if {[huddle type [huddle get $step as]] eq "list"} {
                check {[llength $found] == [llength $names]}
                foreach name $names each $found {set objects($name) $each}
            } else {
                set objects($names) $found
            }
        }
        if {[has $step expect]} {expect $found [huddle get $step expect] [huddle get_stripped $step do]}
    }

    # Calls the function that a step names, of an object, a class or the package.
    proc call {step} {
        variable objects
        set do [huddle get_stripped $step do]
        lassign [split $do .] on method
        foreach own [list do_$do do_$method do_$on] {
            if {[info commands ::cases::$own] ne ""} break
        }
        set target [expr {[info exists objects($on)] ? $objects($on) : "::runcible::$on"}]
        if {[info commands ::cases::$own] ne ""} {return [$own $target $step {*}[given $step with]]}
        set values [lmap each [given $step with] {value $each}]
        if {$method eq "" && [info exists objects($on)]} {return $target}
        set options [options $step]
        if {[lindex $options 0] eq "-keep"} {set options [lrange $options 1 end]}
        return [$target {*}$method {*}$values {*}$options]
    }

    # Checks a result against the expected part of it.
    proc expect {found node what} {
        set kind [huddle type $node]
        if {$kind eq "string" && [string match {$golden*} [huddle get_stripped $node]]} {
            check {$found eq [value $node]}
        } elseif {$kind eq "list"} {
            check {[llength $found] == [huddle llength $node]}
            set i -1
            foreach each [nodes $node] {expect [lindex $found [incr i]] $each "$what\[$i]"}
        } elseif {$kind eq "dict"} {
            foreach name [huddle keys $node] {
                if {$name eq {$by}} continue
                if {[string match {$*} $name]} {
                    if {![compare $name $found [huddle get $node $name] $node $what]} {
                        error "$what: $name [json $node] of $found"
                    }
                } else {
                    expect [member $found $name] [huddle get $node $name] $what.$name
                }
            }
        } elseif {$kind eq "boolean"} {
            check {!!$found == !![huddle get_stripped $node]}
        } elseif {$kind eq "number"} {
            check {$found == [value $node]}
        } else {
            check {$found eq [value $node]}
        }
    }

    # Returns members, also those that have another name or form in Tcl.
    proc member {found name} {
        if {[info object isa object $found]} {return [$found {*}[string map {numbers read} $name]]}
        if {[::runcible::IsJson $found]} {set found [::json::json2dict $found]}
        if {$name eq "tool_calls"} {set name calls}
        set value [dict get $found $name]
        return [expr {$name eq "arguments" ? [::json::json2dict $value] : $value}]
    }

    proc passes {found node} {
        return [expr {![catch {expect $found $node ""}]}]
    }

    proc compare {name found wanted node what} {
        switch $name {
            {$same} {return [expr {$found eq [::json::json2dict [json $wanted]]}]}
            {$not} {return [expr {$found ne [value $wanted]}]}
            {$least} {return [expr {$found >= [value $wanted]}]}
            {$most} {return [expr {$found <= [value $wanted]}]}
            {$count} {
                expect [llength $found] $wanted $what
                return 1
            }
            {$near} {
                set by [value [huddle get $node {$by}]]
                foreach number [value $wanted] each [lrange $found 0 [llength [value $wanted]]-1] {
                    if {abs($number - $each) > $by} {return 0}
                }
                return 1
            }
            {$some} {return [expr {1 in [lmap each $found {passes $each $wanted}]}]}
            {$all} {return [expr {0 ni [lmap each $found {passes $each $wanted}]}]}
            {$any} {return [expr {1 in [lmap each [nodes $wanted] {passes $found $each}]}]}
            {$start_of} {return [expr {$found ne "" && [string first $found [value $wanted]] == 0}]}
            {$but_last} {
                set whole [value $wanted]
                return [expr {$found eq [lrange $whole 0 [llength $found]-1]
                    && [llength $found] >= [llength $whole] - 1}]
            }
        }
        error "there is no comparison $name"
    }

    # Steps that are not a single call of the package, or that have another name
    # in Tcl.

    proc do_open {class step spec} {
        return [$class new [value $spec] {*}[options $step]]
    }

    proc do_load {class step path backend} {
        return [$class new [value $path] -backend [value $backend] {*}[options $step]]
    }

    proc do_from_hub {_ step source backend} {
        return [runcible::from_hub [value $source] -backend [value $backend]]
    }

    proc do_plan {_ step path backend} {
        return [runcible::plan [value $path] -backend [value $backend] {*}[options $step]]
    }

    proc do_Tenant.create {class step} {
        return [$class new {*}[options $step]]
    }

    proc do_Tokenizer.open {class step path} {
        return [$class new [value $path]]
    }

    proc do_Tensor.of {class step values shape backend} {
        return [$class new [value $values] [value $backend] -shape [value $shape] {*}[options $step]]
    }

    proc do_restore {class step model path} {
        return [$class restore [value $model] [value $path]]
    }

    proc do_fused_linear {x step weight} {
        return [$x fused_linear [value $weight] "" [dict get [options $step] -function]]
    }

    proc do_reshape {tensor step args} {
        return [$tensor reshape [lmap each $args {value $each}]]
    }

    proc do_save_bytes {session step} {
        return [$session save_memory]
    }

    proc do_restore_bytes {class step model saved} {
        return [$class restore_memory [value $model] [value $saved]]
    }

    proc is_tokens {node} {
        return [expr {[huddle type $node] eq "list"
            || [string match {$golden*tokens} [huddle get_stripped $node]]}]
    }

    # Returns the arguments of generating; a prompt that is tokens is an option.
    proc generating {step {prompt ""}} {
        if {$prompt eq ""} {return [list "" {*}[options $step]]}
        if {[is_tokens $prompt]} {return [list "" -prompt_tokens [value $prompt] {*}[options $step]]}
        return [list [value $prompt] {*}[options $step]]
    }

    proc do_generate {session step args} {
        set text [$session generate {*}[generating $step {*}$args] -report report]
        return [dict create text $text report $report]
    }

    # Streams within a coroutine, on the event loop.
    proc do_stream {session step prompt} {
        set stream [$session stream {*}[generating $step $prompt]]
        set last [expr {[has $step cancel_after] ? [huddle get_stripped $step cancel_after] : 0}]
        set has_logprobs [expr {"-logprobs" in [options $step]}]
        set texts {}
        set pieces {}
        try {
            $stream foreach piece {
                lappend texts $piece
                lappend pieces [described $piece $stream $has_logprobs]
                if {[llength $pieces] == $last} {$stream cancel}
            }
            return [dict create text [join $texts ""] pieces $pieces report [$stream report]]
        } finally {
            $stream destroy
        }
    }

    proc described {piece stream has_logprobs} {
        set made [dict create text $piece tokens [$stream tokens]]
        if {!$has_logprobs} {return $made}
        set best {{pairs} {lmap {token logprob} $pairs {dict create token $token logprob $logprob}}}
        dict set made logprobs [apply $best [$stream logprobs]]
        dict set made top_logprobs [lmap each [$stream top_logprobs] {apply $best $each}]
        return $made
    }

    proc do_start {session step prompt} {
        return [$session start {*}[generating $step $prompt]]
    }

    proc do_leave {session step prompt} {
        set generation [do_start $session $step $prompt]
        $generation next piece
        return $generation
    }

    proc do_close_all {_ step args} {
        variable objects
        # Closing a model destroys its tokenizer.
        foreach name $args {if {[info object isa object $objects([value $name])]} {$objects([value $name]) close}}
    }

    proc do_finish {generation step} {
        $generation close
        return $generation
    }

    # Runs each step in a separate coroutine; the last to end resumes this one.
    proc do_together {_ step} {
        variable left [huddle llength [huddle get $step steps]]
        variable failure {}
        variable waiting ""
        foreach each [given $step steps] {
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

    proc do_append {session step what} {
        return [$session [expr {[is_tokens $what] ? "append_tokens" : "append"}] [value $what]]
    }

    proc do_statuses {_ step numbers} {
        dict for {name number} [value $numbers] {
            check {[set ::runcible::native::E_$name] == $number}
            check {[runcible::native::status_name $number] eq "RC_E_$name"}
        }
    }

    proc do_file {_ step path text} {
        set file [open [value $path] w]
        puts -nonewline $file [value $text]
        close $file
    }

    proc do_logits {session step number} {
        set rows [$session logits]
        set row [lindex $rows [value $number]]
        set largest [lsearch -exact $row [tcl::mathfunc::max {*}$row]]
        return [dict create rows [llength $rows] vocabulary [llength $row] largest $largest \
            sum [tcl::mathop::+ {*}$row]]
    }

    foreach kind {json_schema choices regex gbnf lark} {
        proc do_Grammar.$kind {class step model given} [string map [list KIND $kind] {
            # A constant that is a list has no types in a dict.
            set is_json [expr {"KIND" eq "json_schema" && [has $given const]}]
            return [$class new [value $model] KIND [expr {$is_json ? [json $given] : [value $given]}] {*}[options $step]]
        }]
    }

    # Adds messages to a conversation, or adds tensors.
    proc do_add {to step added} {
        return [$to add [expr {[huddle type $added] eq "list" ? [json $added] : [value $added]}]]
    }

    proc do_messages {chat step} {
        return [::json::json2dict [$chat messages]]
    }

    # Answers within a coroutine, on the event loop.
    proc do_answer {chat step} {
        set answer [$chat stream {*}[options $step]]
        try {
            return [$answer reply]
        } finally {
            $answer destroy
        }
    }

    proc do_record {class step backend like ops outputs {kept {}}} {
        variable objects
        set inputs {}
        foreach each [value $like] {dict set inputs input[dict size $inputs] $each}
        return [$class new [value $backend] $inputs {
            set values [concat [lmap name [dict keys $inputs] {set $name}] [expr {$kept eq "" ? "" : [value $kept]}]]
            foreach op [value $ops] {
                set others [lassign $op name x]
                set objects(recorded) [[lindex $values $x] $name {*}[lmap i $others {lindex $values $i}]]
                lappend values $objects(recorded)
            }
            lmap i [value $outputs] {lindex $values $i}
        }]
    }

    # Returns the result of a Pending.
    proc waited {pending} {
        try {
            return [$pending wait]
        } finally {
            $pending destroy
        }
    }

    proc do_run_later {graph step inputs} {
        return [waited [$graph run_async [value $inputs] {*}[options $step]]]
    }

    proc do_switch_later {backend step spec} {
        return [waited [$backend switch_async [value $spec] {*}[options $step]]]
    }

    proc do_open_later {_ step spec} {
        set ::fractions {}
        set backend [waited [runcible::open_async [value $spec] -progress {lappend ::fractions}]]
        check {[lindex $::fractions end] == 1}
        return $backend
    }

    proc do_discover_later {_ step} {
        return [waited [runcible::discover_async]]
    }

    proc do_CustomOp.of {class step} {
        return [$class new -library $::env(RUNCIBLE_CUSTOM_OP) {*}[options $step]]
    }

    proc run {case} {
        variable objects
        variable paths
        variable report
        array unset objects
        array unset paths
        try {
            in_coroutine [list {case} {
                foreach step [nodes [huddle get $case steps]] {step $step}
            } ::cases] $case
            lappend report "passed\t[huddle get_stripped $case name]"
            return
        } finally {
            foreach {name object} [array get objects] {
                if {[info object isa object $object]} {$object destroy}
            }
            file delete {*}[dict values [array get paths]]
        }
    }

    # The cases that Tcl cannot run, and the reasons.
    variable missing {"pinned memory" "Tcl has no memory that stays where it is"}

    foreach case [nodes [huddle get $document cases]] {
        set name [huddle get_stripped $case name]
        if {[dict exists $missing $name]} {
            lappend report "missing\t$name\t[dict get $missing $name]"
            continue
        }
        ::tcltest::test cases-[incr number] $name -body [list ::cases::run $case]
    }
    if {[info exists ::env(RUNCIBLE_CASES_REPORT)]} {
        set file [open $::env(RUNCIBLE_CASES_REPORT) w]
        puts $file [join $report \n]
        close $file
    }
}
