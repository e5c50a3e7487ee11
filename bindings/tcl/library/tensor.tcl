# Tensors and ops, for those who compute without a model; see runcible/tensor.h.
# Shapes are lists, slowest dimension first; dimensions as arguments are counted
# from 0, or from the last as -1.

namespace eval ::runcible {
    # Types that `binary format` has too.
    variable formats {f32 f f64 d i8 c i16 t i32 n i64 m}
}

# The handle of a tensor, or "" for none.
proc ::runcible::Optional {tensor what} {
    return [expr {$tensor eq "" ? "" : [Need $tensor Tensor $what]}]
}

# The same of the tensor that an option is, if it is given.
proc ::runcible::OptionalOf {pairs option} {
    return [expr {[dict exists $pairs $option] ? [Optional [dict get $pairs $option] -$option] : ""}]
}

oo::class create ::runcible::Tensor {
    superclass ::runcible::Handle
    variable handle

    # A tensor of a list of numbers. Options: -shape (one dimension), and -dtype
    # ("f32") to store them in.
    constructor {numbers backend args} {
        if {[lindex $args 0] eq "-handle"} {
            set handle [lindex $args 1]
            return
        }
        set pairs [dict merge [dict create shape [llength $numbers] dtype f32] \
            [::runcible::Pairs $args]]
        ::runcible::RefuseRest [dict remove $pairs shape dtype]
        set number [::runcible::DtypeNumber [dict get $pairs dtype]]
        set stored [dict get $pairs dtype]
        if {![dict exists $::runcible::formats $stored]} {set stored f32}
        if {[catch {binary format [dict get $::runcible::formats $stored]* $numbers} bytes]} {
            ::runcible::Refuse "the numbers of a tensor: $bytes"
        }
        set handle [::runcible::native::tensor_from_data \
            [::runcible::Need $backend Backend backend] [::runcible::DtypeNumber $stored] \
            [dict get $pairs shape] $bytes]
        if {$stored ne [dict get $pairs dtype]} {
            set plain $handle
            unset handle
            try {
                set handle [::runcible::native::op_quantize $plain $number]
            } finally {
                ::runcible::native::dispose $plain
            }
        }
    }

    # A tensor of a byte array in the layout of the type.
    self method from_bytes {bytes shape dtype backend} {
        return [my new "" "" -handle [::runcible::native::tensor_from_data \
            [::runcible::Need $backend Backend backend] [::runcible::DtypeNumber $dtype] \
            $shape $bytes]]
    }

    # :api: makers

    # The type of the elements: "f32", "q4_k".
    method dtype {} {
        return [::runcible::DtypeName [::runcible::native::tensor_dtype [my Handle]]]
    }

    # The dimensions, slowest first.
    method shape {} {
        return [::runcible::native::tensor_shape [my Handle]]
    }

    # The number of elements.
    method size {} {
        return [lindex [::runcible::native::tensor_size [my Handle]] 0]
    }

    # The device on which it lies, "vulkan:0".
    method device {} {
        return [::runcible::native::tensor_device [my Handle]]
    }

    # The same numbers on another device ("vulkan:0"; by default where new tensors
    # lie), or of another handle.
    method to {{device ""} {backend ""}} {
        if {$backend ne ""} {set backend [::runcible::Need $backend Backend backend]}
        return [my Made [::runcible::native::tensor_to [my Handle] $backend $device]]
    }

    # Of an outline that an op gave: where the op would run, and the estimates of
    # all candidates in seconds; JSON.
    method choice {} {
        return [::runcible::native::op_choose [my Handle]]
    }

    # The numbers in the layout of the type, a byte array.
    method bytes {} {
        set bytes [lindex [::runcible::native::tensor_size [my Handle]] 1]
        return [::runcible::native::tensor_read [my Handle] $bytes]
    }

    # The numbers, a list in the order of the shape.
    method read {} {
        if {![dict exists $::runcible::formats [my dtype]]} {
            set plain [my dequantize]
            try {
                return [$plain read]
            } finally {
                $plain destroy
            }
        }
        binary scan [my bytes] [dict get $::runcible::formats [my dtype]]* numbers
        return $numbers
    }

    method Made {made} {
        return [::runcible::Tensor new "" "" -handle $made]
    }

    # Views, which share the memory of their tensor, and ops, which make new ones.

    # :api: ops
}
