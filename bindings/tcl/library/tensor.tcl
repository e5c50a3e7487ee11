# Tensors and ops, for programs that compute without a model; see
# runcible/tensor.h. Shapes are lists, slowest dimension first; dimensions as
# arguments are counted from 0, or from the last as -1.

namespace eval ::runcible {
    # The types that `binary format` supports.
    variable formats {f32 f f64 d i8 c i16 t i32 n i64 m}
}

# Returns the handle of a tensor, or "" for "".
proc ::runcible::Optional {tensor what} {
    return [expr {$tensor eq "" ? "" : [Need $tensor Tensor $what]}]
}

# Returns the handle of the tensor of an option, or "" if it is not given.
proc ::runcible::OptionalOf {pairs option} {
    return [expr {[dict exists $pairs $option] ? [Optional [dict get $pairs $option] -$option] : ""}]
}

oo::class create ::runcible::Tensor {
    superclass ::runcible::Handle
    variable handle

    # Makes a tensor of a list of numbers. Options: -shape (default: one
    # dimension), and -dtype, the type of the elements (default: f32).
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

    # Makes a tensor of a byte array in the layout of the type.
    self method from_bytes {bytes shape dtype backend} {
        return [my new "" "" -handle [::runcible::native::tensor_from_data \
            [::runcible::Need $backend Backend backend] [::runcible::DtypeNumber $dtype] \
            $shape $bytes]]
    }

    # :api: makers

    # Returns the type of the elements: "f32", "q4_k".
    method dtype {} {
        return [::runcible::DtypeName [::runcible::native::tensor_dtype [my Handle]]]
    }

    # Returns the dimensions, slowest first.
    method shape {} {
        return [::runcible::native::tensor_shape [my Handle]]
    }

    # Returns the number of elements.
    method size {} {
        return [lindex [::runcible::native::tensor_size [my Handle]] 0]
    }

    # Returns the device of the tensor's memory, "vulkan:0".
    method device {} {
        return [::runcible::native::tensor_device [my Handle]]
    }

    # Copies the numbers to another device ("vulkan:0"; default: the one of new
    # tensors), or to another handle.
    method to {{device ""} {backend ""}} {
        if {$backend ne ""} {set backend [::runcible::Need $backend Backend backend]}
        return [my Made [::runcible::native::tensor_to [my Handle] $backend $device]]
    }

    # Returns, for an outline that an op returned, the device on which the op
    # would run, and the estimates of all candidates in seconds; JSON.
    method choice {} {
        return [::runcible::native::op_choose [my Handle]]
    }

    # Returns the numbers in the layout of the type, a byte array.
    method bytes {} {
        set bytes [lindex [::runcible::native::tensor_size [my Handle]] 1]
        return [::runcible::native::tensor_read [my Handle] $bytes]
    }

    # Returns the numbers, a list in the order of the shape.
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

    # Views share the memory of their tensor; ops make new tensors.

    # :api: ops
}
