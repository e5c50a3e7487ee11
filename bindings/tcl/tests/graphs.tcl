# Graphs: recorded, run, run on the event loop.

it graphs_refuse_invalid_arguments {
    set x [tensor {1 2}]
    check {[catch {runcible::Graph new $::backend [dict create a $x] {error mine}} message]}
    check {$message eq "mine" && ![info exists a]}
    check {[failure {runcible::Graph new $::backend [dict create a $x] {list 1}}] eq "VALUE"}
    check {[string match "an output must be a Tensor*" $::failure]}
    set graph [runcible::Graph new $::backend [dict create a $x] {$a neg}]
    check {[failure {$graph run [list $x] -dead 1}] eq "VALUE"}
}

it graphs_run_on_the_event_loop {
    set graph [runcible::Graph new $::backend [dict create x [tensor {0 0}]] {$x add $x}]
    # Without a coroutine the event loop runs, as in vwait.
    set running [$graph run_async [list [tensor {1 2}]]]
    check {[[$running wait] read] eq {2.0 4.0}}
    $running destroy
    # The result goes to a command.
    set ::last ""
    $graph run_async [list [tensor {3 2}]] -command {apply {{pending what args} {set ::last [list $what {*}$args]}}}
    wait_for ::last
    check {[lindex $::last 0] eq "end" && [[lindex $::last 1] read] eq {6.0 4.0}}
    check {[failure {$graph run_async [list [tensor {3}]]}] eq "INVALID_ARGUMENT"
        || [failure {[$graph run_async [list [tensor {3}]]] wait}] eq "INVALID_ARGUMENT"}
}

it graphs_cancel_destroy_and_deadline_end_a_run {
    set endless [runcible::CustomOp new -name endless \
        -signature {x F32 [n] -> y F32 [n]} -library $::env(RUNCIBLE_CUSTOM_OP)]
    set x [tensor {1 2}]
    set graph [runcible::Graph new $::backend [dict create x $x] {$endless compute [list $x]}]
    set running [$graph run_async [list $x]]
    $running cancel
    check {[failure {$running wait}] eq "CANCELLED"}
    $running destroy
    # Destroying a Pending cancels too, and removes it from the loop.
    set running [$graph run_async [list $x]]
    $running destroy
    # No deadline passes before its time.
    foreach {deadline limit} {0.0012 2 0.007 7} {
        set running [$graph run_async [list $x] -deadline $deadline]
        check {[failure {$running wait}] eq "TIMEOUT" && [string match "* $limit ms*" $::failure]}
        $running destroy
    }
}
