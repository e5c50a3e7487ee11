# Two texts at once on Tcl's event loop, beside a timer: one is read by a coroutine,
# the other is told to a command.
package require runcible

set model [runcible::Model new builtin:fable -backend cpu]
set ticks 0
set left 2

proc tick {} {
    incr ::ticks
    after 10 tick
}

proc tell {beginning} {
    set stream [[$::model session] stream $beginning -max_tokens 60 -echo 1]
    set story [$stream text]
    $stream destroy
    puts "$story\n---"
    incr ::left -1
}

proc hear {stream what value args} {
    switch $what {
        piece {append ::heard $value}
        end {
            puts "$::heard\n---"
            incr ::left -1
        }
    }
}

tick
coroutine fox tell "A fox"
[$model session] stream "A goose" -max_tokens 60 -echo 1 -command hear
while {$left > 0} {vwait left}
puts "$ticks ticks of the timer meanwhile"
