# Prints a text as it is generated; blocks meanwhile.
#
#     tclsh8.6 story.tcl ?PROMPT?
package require runcible

set model [runcible::Model new builtin:fable -backend cpu]
set session [$model session]
set prompt [expr {$argc ? [lindex $argv 0] : "Once upon a time"}]
$session foreach piece $prompt -max_tokens 100 -echo 1 {
    puts -nonewline $piece
    flush stdout
}
puts ""
