# Generates two texts at once on Tcl's event loop, while a timer ticks: a
# coroutine reads one, a command receives the other.
package require runcible

set model [runcible::Model new builtin:fable -backend cpu]
set ticks 0
set left 2

proc tick {} {
    incr ::ticks
    after 10 tick
}

proc generate {beginning} {
    set stream [[$::model session] stream $beginning -max_tokens 60 -echo 1]
    set story [$stream text]
    $stream destroy
    puts "$story\n---"
    incr ::left -1
}

proc receive {stream what value args} {
    switch $what {
        piece {append ::received $value}
        end {
            puts "$::received\n---"
            incr ::left -1
        }
    }
}

tick
coroutine fox generate "A fox"
[$model session] stream "A goose" -max_tokens 60 -echo 1 -command receive
while {$left > 0} {vwait left}
puts "$ticks ticks of the timer meanwhile"
