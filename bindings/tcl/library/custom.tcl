# Custom ops: tensor ops of the program's own.
# :header: custom_op.h
oo::class create ::runcible::CustomOp {
    superclass ::runcible::Handle
    variable handle called attributes outputs

    # An op of kernels, and for devices that compute in host memory a function of C:
    # -symbol, its name in the shared library at the path -library, which stays
    # loaded, or -address, where it is. Commands of Tcl are none, for the library
    # calls them from threads of its own.
    # :api: members rc_custom_op_options
    constructor {args} {
        set pairs [::runcible::Pairs $args]
        set given [dict merge {name custom_op attributes ""} $pairs]
        set called [dict get $given name]
        set attributes {}
        foreach each [split [dict get $given attributes] ,] {
            lappend attributes [lindex [regexp -inline -all {\S+} $each] 0]
        }
        lassign [::runcible::WithOptions custom_op_options \
            [dict remove $pairs address library symbol] \
            [list apply {{pairs name options} {
                if {[dict exists $pairs address]} {
                    native::custom_op_options_set_function $options [dict get $pairs address]
                }
                if {[dict exists $pairs library]} {
                    if {[dict exists $pairs symbol]} {set name [dict get $pairs symbol]}
                    native::custom_op_options_set_function_of $options \
                        [dict get $pairs library] $name
                }
                list [native::custom_op_create $options] \
                    [native::custom_op_options_outputs $options]
            } ::runcible} $pairs $called]] handle outputs
    }

    # A list of the outputs of a list of inputs, and of attributes by their names:
    #
    #     lassign [$op compute [list $x] -scale 0.5] y
    #
    # In a graph that records it is recorded.
    method compute {inputs args} {
        set numbers [my Numbers [::runcible::Pairs $args]]
        set made [::runcible::native::new_tensor_list]
        try {
            ::runcible::WithTensors $inputs "an input" [list apply {{op numbers count made list} {
                native::custom_op_compute $op $list $numbers $count $made
            } ::runcible} [my Handle] $numbers $outputs $made]
            return [::runcible::TensorsOf $outputs [list ::runcible::native::tensor_of_list $made]]
        } finally {
            ::runcible::native::dispose $made
            ::runcible::native::dispose $numbers
        }
    }

    # The library's list of the attributes in their order.
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
