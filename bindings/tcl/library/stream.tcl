# Generating text on Tcl's event loop. The library signals through a channel that
# events wait; no thread of the library ever runs Tcl.

namespace eval ::runcible {
    # The streams and calls whose end has not arrived, by key; "" for an object
    # that was destroyed.
    variable streams {}
    variable last_key 0
}

# Starts a request that posts to an object: {*}$begin with the mailbox and a key.
proc ::runcible::StartPosting {object begin} {
    variable box
    variable channel
    variable streams
    variable last_key
    if {![info exists box]} {
        set made [native::mailbox_create]
        set channel [native::mailbox_channel $made]
        chan configure $channel -blocking 0
        set box $made
    }
    set key [expr {$last_key + 1}]
    set request [{*}$begin $box $key]
    set last_key $key
    if {[dict size $streams] == 0} {
        chan event $channel readable [namespace code TakeEvents]
    }
    dict set streams $key $object
    return [list $key $request]
}

# Starts a request that posts to a stream.
proc ::runcible::StartStream {stream starter handle options} {
    return [StartPosting $stream [list apply {{starter handle options box key} {
        native::$starter $box $handle $options $key
    } ::runcible} $starter $handle $options]]
}

proc ::runcible::TakeEvents {} {
    variable box
    variable channel
    variable streams
    set woken {}
    foreach event [native::mailbox_take $box] {
        set key [dict get $event key]
        set stream [dict get $streams $key]
        if {[dict exists $event report]} {
            dict unset streams $key
        }
        if {$stream ne ""} {
            [info object namespace $stream]::my Post $event
            dict set woken $stream 1
        }
    }
    if {[dict size $streams] == 0} {
        chan event $channel readable {}
    }
    foreach stream [dict keys $woken] {
        if {[info object isa object $stream]} {
            [info object namespace $stream]::my Wake
        }
    }
}

# Runs a command of the program. Its error is raised in the background, and does
# not keep other streams from their pieces.
proc ::runcible::InBackground {command} {
    if {[catch {uplevel #0 $command} message options]} {
        after 0 [namespace code [list Raise $message $options]]
    }
}

proc ::runcible::Raise {message options} {
    return -options $options $message
}

# A Generation on the event loop. Within a coroutine `next`, `foreach`, `text` and
# `close` yield until an event arrives; elsewhere they run the event loop as vwait
# does.
#
# With the option -command, the stream is not read: {*}COMMAND is called with
# STREAM "piece" TEXT for each piece; at the end with STREAM "end" REPORT, or
# STREAM "error" MESSAGE OPTIONS, and then the stream is destroyed.
oo::class create ::runcible::Stream {
    superclass ::runcible::Generation
    variable request key events waiter command delivering report failure woken

    method Begin {session prompt pairs} {
        set events {}
        set waiter ""
        set command ""
        set delivering 0
        if {[dict exists $pairs command]} {
            set command [dict get $pairs command]
            dict unset pairs command
        }
        lassign [::runcible::WithGenerateOptions $prompt $pairs \
            [list ::runcible::StartStream [self] [my Starter] $session]] key request
    }

    method Starter {} {return mailbox_generate}

    method Post {event} {
        lappend events $event
    }

    method Wake {} {
        if {$command ne ""} {
            my Deliver
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

    # Calls the command for the events that have arrived, one piece after the
    # other also if it runs the event loop. It may destroy the stream.
    method Deliver {} {
        if {$delivering} return
        set delivering 1
        set self [self]
        while {[info object isa object $self] && [llength $events]} {
            set events [lassign $events event]
            if {[my Took $event]} {
                ::runcible::InBackground [list {*}$command $self piece [my Shown $event]]
            } elseif {[info exists failure]} {
                set options [lrange $failure 0 end-1]
                ::runcible::InBackground \
                    [list {*}$command $self error [lindex $failure end] $options]
            } else {
                ::runcible::InBackground [list {*}$command $self end $report]
            }
            if {[info object isa object $self] && [info exists report]} {
                my destroy
                return
            }
        }
        if {[info object isa object $self]} {set delivering 0}
    }

    method Event {} {
        if {$command ne ""} {
            error "this stream passes its pieces to its -command"
        }
        while {![llength $events]} {
            set coroutine [info coroutine]
            if {$waiter ni [list "" $coroutine]} {
                error "another coroutine waits for this stream"
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
        set events [lassign $events event]
        return $event
    }

    destructor {
        if {[info exists key] && [dict exists $::runcible::streams $key]} {
            dict set ::runcible::streams $key ""
            # Fails in the child of a fork.
            catch {::runcible::native::request_cancel $request}
        }
        next
    }
}
