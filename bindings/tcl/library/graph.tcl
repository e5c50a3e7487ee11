# Graphs: ops of tensors that are recorded once and run many times; see
# runcible/graph.h.

# Calls {*}$command with the library's list of these tensors.
proc ::runcible::WithTensors {tensors what command} {
    set list [native::new_tensor_list]
    try {
        foreach tensor $tensors {
            native::tensor_list_add $list [Need $tensor Tensor $what]
        }
        return [{*}$command $list]
    } finally {
        native::dispose $list
    }
}

# Returns the tensors that {*}$get returns for each index.
proc ::runcible::TensorsOf {count get} {
    set made {}
    for {set i 0} {$i < $count} {incr i} {
        lappend made [Tensor new "" "" -handle [{*}$get $i]]
    }
    return $made
}

# A recorded script of tensor ops, which runs as one.
oo::class create ::runcible::Graph {
    superclass ::runcible::Handle
    variable handle outputs

    # Evaluates a script in the caller's scope, where variables with the names in
    # a dict stand for inputs and have the types and shapes of its tensors. The
    # ops on them are recorded and not run. The result of the script is a list of
    # the outputs, which each run computes as new tensors; other tensors that it
    # uses are constants. An op raises an error for shapes and types that do not
    # fit. The caller destroys the tensors that the script makes as other tensors.
    #
    #     set graph [runcible::Graph new $backend [dict create x $x] {
    #         [$x mul $scale] relu
    #     }]
    #     set y [$graph run [list $x2]]
    constructor {backend inputs script} {
        set handle [::runcible::native::graph_begin \
            [::runcible::Need $backend Backend backend]]
        set before {}
        set stand_ins {}
        try {
            dict for {name like} $inputs {
                set own [::runcible::Need $like Tensor "the input $name"]
                dict set stand_ins $name [::runcible::Tensor new "" "" -handle \
                    [::runcible::native::graph_input $handle \
                        [::runcible::native::tensor_dtype $own] \
                        [::runcible::native::tensor_shape $own]]]
            }
            dict for {name stand_in} $stand_ins {
                if {[uplevel 1 [list info exists $name]]} {
                    dict set before $name [uplevel 1 [list set $name]]
                }
                uplevel 1 [list set $name $stand_in]
            }
            set made [uplevel 1 $script]
            set outputs [llength $made]
            ::runcible::WithTensors $made "an output" \
                [list ::runcible::native::graph_finish $handle]
        } finally {
            dict for {name stand_in} $stand_ins {
                if {[dict exists $before $name]} {
                    uplevel 1 [list set $name [dict get $before $name]]
                } else {
                    uplevel 1 [list unset -nocomplain $name]
                }
                $stand_in destroy
            }
        }
    }

    # Returns a list of the outputs for a list of inputs, which have the number,
    # types and shapes that were recorded. Option: -deadline, seconds.
    method run {inputs args} {
        set given [::runcible::Defaulted $args {deadline ""}]
        set made [::runcible::native::new_tensor_list]
        try {
            ::runcible::WithTensors $inputs "an input" [list apply {{graph deadline made list} {
                Serving [list native::graph_compute_serving $graph $list $deadline $made]
            } ::runcible} [my Handle] [::runcible::DeadlineOf $given] $made]
            return [::runcible::TensorsOf $outputs [list ::runcible::native::tensor_of_list $made]]
        } finally {
            ::runcible::native::dispose $made
        }
    }

    # Runs while the event loop does. Returns a Pending, whose `wait` returns the
    # list. Options: -deadline, and -command as for Pending.
    method run_async {inputs args} {
        set pairs [dict merge {deadline ""} [::runcible::Pairs $args]]
        set begin [list apply {{graph inputs deadline box key} {
            WithTensors $inputs "an input" [list apply {{graph deadline box key list} {
                native::graph_run_start $box $key $graph $list $deadline
            } ::runcible} $graph $deadline $box $key]
        } ::runcible} [my Handle] $inputs [::runcible::DeadlineOf $pairs]]
        set result [list apply {{count call} {
            TensorsOf $count [list ::runcible::native::pending_call_tensor $call]
        } ::runcible} $outputs]
        return [::runcible::Pending new $begin $result [dict remove $pairs deadline]]
    }

    # :api: methods rc_graph
}
