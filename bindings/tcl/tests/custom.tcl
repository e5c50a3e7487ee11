# Custom ops: functions of C and kernels.

# Returns the options of an op, some of them changed; "" leaves an option out.
proc softsign_with {args} {
    set options [dict merge [dict create \
        -name softsign \
        -signature {x F32 [...] -> y F32 [...]} \
        -attributes {scale float} \
        -items elements(x) \
        -library $::env(RUNCIBLE_CUSTOM_OP) \
        -opencl_c {
            size_t i = get_global_id(0);
            if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);
        } \
        -grid elements(x)] $args]
    return [dict filter $options script {name value} {expr {$value ne ""}}]
}

proc check_softsign {found numbers scale} {
    check {[llength $found] == [llength $numbers]}
    foreach y $found x $numbers {
        check {abs($y - $x / (1 + abs($x) * $scale)) < 1e-6}
    }
}

# Computes softsign as a command of Tcl.
proc softsign {inputs attributes} {
    set scale [dict get $attributes scale]
    set numbers {}
    foreach x [dict get [lindex $inputs 0] numbers] {
        lappend numbers [expr {$x / (1 + abs($x) * $scale)}]
    }
    return [list $numbers]
}

proc check_custom_softsign {op} {
    set numbers {-4.0 -1.0 0.0 1.0 3.0}
    foreach device {cpu reference opencl} {
        if {[catch {runcible::Backend new $device} backend]} continue
        set x [runcible::Tensor new $numbers $backend]
        lassign [$op compute [list $x] -scale 0.5] y
        check_softsign [$y read] $numbers 0.5
        foreach object [list $y $x $backend] {$object destroy}
    }
    set backend [runcible::Backend new cpu]
    set x [runcible::Tensor new {1 2 3} $backend]
    set graph [runcible::Graph new $backend [dict create given $x] {
        set twice [$given add $given]
        set made [$op compute [list $twice] -scale 2]
        $twice destroy
        set made
    }]
    $made destroy
    lassign [$graph run [list $x]] y
    check_softsign [$y read] {2.0 4.0 6.0} 2
    foreach object [list $y $graph $x $op $backend] {$object destroy}
}

it custom_functions_of_c_and_kernels_compute_the_op {
    check_custom_softsign [runcible::CustomOp new {*}[softsign_with]]
}

it custom_commands_compute_the_op {
    check_custom_softsign [runcible::CustomOp new \
        {*}[softsign_with -library "" -items "" -compute softsign]]
}

it custom_commands_take_types_and_raise_their_errors {
    set backend [runcible::Backend new cpu]
    set op [runcible::CustomOp new \
        -signature {x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]} \
        -compute {apply {{inputs attributes} {
            lassign $inputs x w
            check {[dict get $x shape] eq {3 2} && [dict get $x dtype] eq "i32"}
            lassign [dict get $w numbers] first second
            if {$first < 0} {return -code error -errorcode {MINE 1} "not mine"}
            if {$first == 0} {return {1 2}}
            set z {}
            foreach {a b} [dict get $x numbers] {
                lappend y [expr {$a * $first + $b * $second}]
                lappend z [expr {-$a}] [expr {-$b}]
            }
            return [list $y $z]
        }}}]
    set x [runcible::Tensor new {1 2 3 4 5 6} $backend -shape {3 2} -dtype i32]
    foreach {weights expected} {{10 0.5} {11.0 32.0 53.0} {-1 0} 1 {0 0} DEVICE} {
        set w [runcible::Tensor new $weights $backend -dtype f64]
        set failed [failure {
            lassign [$op compute [list $x $w]] y z
            set found [$y read]
            check {[$z read] eq {-1 -2 -3 -4 -5 -6}}
            $y destroy
            $z destroy
        }]
        check {($failed eq "" ? $found : $failed) eq $expected}
        $w destroy
    }
    set graph [runcible::Graph new $backend [dict create given $x] {
        $op compute [list $given [runcible::Tensor new {1 2} $backend -dtype f64]]
    }]
    set running [$graph run_async [list $x]]
    check {[failure {$running wait}] eq "BUSY"}
    check {[failure {runcible::CustomOp new -items n -compute puts}] eq "VALUE"}
    foreach object [list $running $graph $x $op $backend] {$object destroy}
}

it custom_errors_name_the_cause {
    set backend [runcible::Backend new cpu]
    set x [runcible::Tensor new {1 2} $backend]
    foreach {changes attributes code says} {
        {} {} VALUE "needs the attribute -scale"
        {} {-scale 1 -size 2} VALUE "no attribute -size"
        {-library /no/such.so} {} NOT_FOUND such
        {-signature {x F32 [n]}} {} INVALID_ARGUMENT signature
        {-library "" -opencl_c ""} {} INVALID_ARGUMENT "neither a function nor a kernel"
        {-nothing 1} {} VALUE "no option"
        {-library ""} {-scale 1} UNSUPPORTED "no function"
    } {
        check {[failure {
            set op [runcible::CustomOp new {*}[softsign_with {*}$changes]]
            $op compute [list $x] {*}$attributes
        }] eq $code}
        check {[string match *$says* $::failure]}
    }
    set op [runcible::CustomOp new {*}[softsign_with]]
    check {[failure {$op compute [list $x $x] -scale 1}] eq "INVALID_ARGUMENT"}
    check {[failure {$op compute [list $backend] -scale 1}] eq "VALUE"}
    foreach object [list $op $x $backend] {$object destroy}
}
