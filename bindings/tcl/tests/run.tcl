# Runs every test.
package require Tcl 8.6
package require tcltest 2.5
namespace import ::tcltest::*
package require runcible
configure -verbose {body error}
set folder [file dirname [file normalize [info script]]]
source [file join $folder helpers.tcl]
foreach file {cases package streams chat json graphs opening custom faults} {
    source [file join $folder $file.tcl]
}
puts "[set ::tcltest::numTests(Passed)] passed, [set ::tcltest::numTests(Failed)] failed"
exit [expr {$::tcltest::numTests(Failed) > 0}]
