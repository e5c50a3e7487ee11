# Calls that run while Tcl's event loop does: openings, discoveries, runs of
# graphs.

# A call in progress; `wait` returns its result. Within a coroutine it yields
# until then; elsewhere it runs the event loop as vwait does.
#
# With the option -command, `wait` is not used: {*}COMMAND is called with PENDING
# "end" VALUE, or PENDING "error" MESSAGE OPTIONS, and then the object is
# destroyed. Destroying it before cancels the call.
oo::class create ::runcible::Pending {
    variable call key event waiter command progress result timer problem outcome woken

    # Takes a command that starts the call, with a mailbox and a key; a command
    # that makes the result of the call; and the options -command and -progress.
    constructor {begin made pairs} {
        set result $made
        set waiter ""
        foreach name {command progress} {
            set $name [expr {[dict exists $pairs $name] ? [dict get $pairs $name] : ""}]
        }
        ::runcible::RefuseRest [dict remove $pairs command progress]
        lassign [::runcible::StartPosting [self] $begin] key call
        if {$progress ne ""} {my Watch}
    }

    # Reports the progress several times in a second.
    method Watch {} {
        set timer [after 50 [namespace code {my ReportAgain}]]
    }

    method ReportAgain {} {
        set self [self]
        my ReportProgress
        if {[info object isa object $self]} {my Watch}
    }

    method ReportProgress {} {
        if {$progress eq "" || [info exists problem]} return
        set self [self]
        set fraction [::runcible::native::pending_call_fraction $call]
        if {[catch {uplevel #0 [list {*}$progress $fraction]} message options]
            && [info object isa object $self]} {
            set problem [list $options $message]
            my cancel
        }
    }

    method Post {ended} {
        set event $ended
    }

    method Wake {} {
        my Rest
        if {$command ne ""} {
            my Answer
        } elseif {$waiter ne ""} {
            set resumed $waiter
            set waiter ""
            if {[namespace which -command $resumed] ne ""} {
                ::runcible::InBackground [list $resumed]
            }
        } else {
            set woken 1
        }
    }

    method Rest {} {
        if {[info exists timer]} {after cancel $timer}
    }

    # Calls the command with the result.
    method Answer {} {
        set self [self]
        my Settle
        if {![info object isa object $self]} return
        lassign $outcome options value
        if {[dict get $options -code] == 0} {
            ::runcible::InBackground [list {*}$command $self end $value]
        } else {
            ::runcible::InBackground [list {*}$command $self error $value $options]
        }
        if {[info object isa object $self]} {my destroy}
    }

    # Stores the result as {OPTIONS VALUE}, as `return` takes them, once.
    method Settle {} {
        if {[info exists outcome]} return
        set self [self]
        set status [dict get $event status]
        if {$status == 0} {
            my ReportProgress
            if {![info object isa object $self]} return
        }
        if {[info exists problem]} {
            set outcome $problem
        } elseif {$status != 0} {
            set name [string map {RC_E_ {}} [::runcible::native::status_name $status]]
            set outcome [list [list -code 1 -errorcode [list RUNCIBLE $name $status]] \
                [dict get $event message]]
        } else {
            set code [catch {{*}$result $call} value options]
            set outcome [list $options $value]
        }
    }

    # Returns the result of the call, or raises its error. An error that -progress
    # raised cancels the call, and is raised here.
    method wait {} {
        if {$command ne ""} {
            error "this call passes its result to its -command"
        }
        while {![info exists event]} {
            set coroutine [info coroutine]
            if {$waiter ni [list "" $coroutine]} {
                error "another coroutine waits for this call"
            }
            if {$coroutine eq ""} {
                vwait [my varname woken]
            } else {
                # Resuming the coroutine otherwise does no harm.
                set waiter $coroutine
                yield
                set waiter ""
            }
        }
        my Settle
        lassign $outcome options value
        return -options $options $value
    }

    # Asks the call to end, with {RUNCIBLE CANCELLED -12} unless it was over
    # before. For a graph, all runs in progress end.
    method cancel {} {
        if {![info exists event]} {
            ::runcible::native::pending_call_cancel $call
        }
    }

    destructor {
        my Rest
        if {[info exists key] && [dict exists $::runcible::streams $key]} {
            dict set ::runcible::streams $key ""
            # Fails in the child of a fork.
            catch {::runcible::native::pending_call_cancel $call}
        }
        if {[info exists call]} {::runcible::native::dispose $call}
    }
}
