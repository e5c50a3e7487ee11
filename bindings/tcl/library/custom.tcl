# Custom ops: tensor ops that the program defines.

# Calls {*}$call, within which the library may run commands of Tcl for ops; raises
# an error of such a command.
proc ::runcible::Serving {call} {
    variable problem
    set before $problem
    set problem ""
    set code [catch $call value options]
    set raised $problem
    set problem $before
    if {$code == 1 && $raised ne ""} {lassign $raised value options}
    return -options $options $value
}

namespace eval ::runcible {
    # The message and the options of an error of a command, within Serving.
    variable problem ""
}

# Called by the library for a command, with the names of the attributes; see
# swig/functions.h.
proc ::runcible::Computing {command names inputs outputs attributes} {
    variable problem
    variable formats
    set given {}
    foreach value $inputs {
        lassign $value dtype shape bytes
        binary scan $bytes [Format $dtype]* numbers
        lappend given [dict create numbers $numbers shape $shape dtype [DtypeName $dtype]]
    }
    set named {}
    foreach name $names number $attributes {dict set named $name $number}
    if {[catch {uplevel #0 [list {*}$command $given $named]} made options]} {
        set problem [list $made $options]
        return -options $options $made
    }
    set results {}
    foreach value $outputs numbers $made {
        lassign $value dtype shape bytes
        lappend results [binary format [Format $dtype]* $numbers]
    }
    return $results
}

# Returns the letter of `binary format` for a type.
proc ::runcible::Format {dtype} {
    variable formats
    return [Chosen $formats "the type of a value that a command computes" [DtypeName $dtype]]
}

# :header: custom_op.h
oo::class create ::runcible::CustomOp {
    superclass ::runcible::Handle
    variable handle called attributes outputs

    # Makes an op of kernels, and for devices that compute in host memory of a
    # function, -compute: a command that is called with a list of the inputs,
    # dicts of their `numbers`, row-major, `shape` and `dtype`, and a dict of the
    # attributes, and returns a list of the numbers of each output. The op raises
    # an error of the command. The command runs only while `compute` or `run`
    # waits; in run_async the op is {RUNCIBLE BUSY}. In place of -compute, a C
    # function: -symbol is its name in the shared library at the path -library,
    # which stays loaded; or -address is its address.
    # :api: members rc_custom_op_options
    constructor {args} {
        set pairs [::runcible::Pairs $args]
        set given [dict merge {name custom_op attributes ""} $pairs]
        set called [dict get $given name]
        if {[dict exists $pairs compute] && [dict exists $pairs items]} {
            ::runcible::Refuse "-items divide the work of functions of C; a command computes all of them"
        }
        set attributes {}
        foreach each [split [dict get $given attributes] ,] {
            lappend attributes [lindex [regexp -inline -all {\S+} $each] 0]
        }
        lassign [::runcible::WithOptions custom_op_options \
            [dict remove $pairs address compute library symbol] \
            [list apply {{pairs name attributes options} {
                if {[dict exists $pairs address]} {
                    native::custom_op_options_set_function $options [dict get $pairs address]
                }
                if {[dict exists $pairs library]} {
                    if {[dict exists $pairs symbol]} {set name [dict get $pairs symbol]}
                    native::custom_op_options_set_function_of $options \
                        [dict get $pairs library] $name
                }
                if {[dict exists $pairs compute]} {
                    set command [list ::runcible::Computing [dict get $pairs compute] $attributes]
                    set made [native::custom_op_of_function $options $command]
                } else {
                    set made [native::custom_op_create $options]
                }
                list $made [native::custom_op_options_outputs $options]
            } ::runcible} $pairs $called $attributes]] handle outputs
    }

    # Returns a list of the outputs for a list of inputs, and attributes by their
    # names:
    #
    #     lassign [$op compute [list $x] -scale 0.5] y
    #
    # If a graph records an input, the op is recorded.
    method compute {inputs args} {
        set numbers [my Numbers [::runcible::Pairs $args]]
        set made [::runcible::native::new_tensor_list]
        try {
            ::runcible::WithTensors $inputs "an input" [list apply {{op numbers count made list} {
                Serving [list native::custom_op_compute_serving $op $list $numbers $count $made]
            } ::runcible} [my Handle] $numbers $outputs $made]
            return [::runcible::TensorsOf $outputs [list ::runcible::native::tensor_of_list $made]]
        } finally {
            ::runcible::native::dispose $made
            ::runcible::native::dispose $numbers
        }
    }

    # Returns the library's list of the attributes in their order.
    method Numbers {pairs} {
        foreach name $attributes {
            if {![dict exists $pairs $name]
                || ![string is double -strict [dict get $pairs $name]]} {
                ::runcible::Refuse "$called needs the attribute -$name, a number"
            }
        }
        foreach name [dict keys $pairs] {
            if {$name ni $attributes} {
                ::runcible::Refuse "$called has no attribute -$name, but\
                    [expr {$attributes eq "" ? "none" : [join $attributes {, }]}]"
            }
        }
        set list [::runcible::native::new_number_list]
        foreach name $attributes {
            ::runcible::native::number_list_add $list [dict get $pairs $name]
        }
        return $list
    }
}
