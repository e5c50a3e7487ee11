# Runcible: language models in your program, on your event loop.
#
#     package require runcible
#
#     set model [runcible::Model new builtin:fable]
#     set session [$model session]
#     $session foreach piece "Once upon a time" -max_tokens 100 {
#         puts -nonewline $piece
#     }
#
# Failures of the library have the -errorcode {RUNCIBLE NAME STATUS}, such as
# {RUNCIBLE DEADLINE -13}. Names and their meaning are those of the C headers.
package require Tcl 8.6

namespace eval ::runcible {
    variable folder [file dirname [file normalize [info script]]]
    # SWIG makes its commands in the namespace that loads it.
    namespace eval :: [list load [file join $folder native.so] Runcible]
    foreach file {members handle json tenant backend tokenizer model grammar generation stream
        pending session chat tensor graph custom} {
        source [file join $folder $file.tcl]
    }
    package provide runcible [native::version_string]
}
