# A custom op that runs as one op of a graph: silu(x) times a gate, which many
# models compute between two products.
#
#     tclsh8.6 silu_gate.tcl
package require runcible

proc silu_gate {inputs attributes} {
    lassign $inputs x gate
    foreach each [dict get $x numbers] by [dict get $gate numbers] {
        lappend y [expr {$each / (1 + exp(-$each)) * $by}]
    }
    return [list $y]
}

# All three have the same shape, whatever it is.
set op [runcible::CustomOp new -name silu_gate -compute silu_gate \
    -signature {x F32 [...], gate F32 [...] -> y F32 [...]}]
set backend [runcible::Backend new cpu]
set x [runcible::Tensor new {-1 0 1 2} $backend]
set gate [runcible::Tensor new {2 2 2 0.5} $backend]
# Recorded once; it runs with any numbers of these shapes.
set graph [runcible::Graph new $backend [dict create x $x gate $gate] {
    lassign [$op compute [list $x $gate]] gated
    $gated add $x
}]
foreach y [[$graph run [list $x $gate]] read] {
    puts [format %.4f $y]
}
