# Procedures that several files of tests use.

# Defines a test that passes if its body raises nothing.
proc it {name body} {
    ::tcltest::test $name [string map {_ { }} $name] \
        -body [list apply [list {} "$body\nreturn"]]
}

# Returns the built-in model, which is loaded once.
proc box {} {
    if {![info exists ::box]} {
        set ::box [runcible::Model new builtin:fable -backend cpu]
    }
    return $::box
}

# Makes a session whose generations, with -ignore_eos 1, never end by themselves.
proc endless {} {
    return [[box] session -when_full shift]
}

# Returns the second word of the error code of a script; "" if it succeeds.
proc failure {script} {
    try {
        uplevel 1 $script
    } on error {message options} {
        set ::failure $message
        return [lindex [dict get $options -errorcode] 1]
    }
    return ""
}

proc check {condition} {
    if {![uplevel 1 [list expr $condition]]} {
        error "not so: $condition ([uplevel 1 [list subst -nocommands $condition]])"
    }
}

# Waits for a variable; ends the program after a quarter of an hour.
proc wait_for {varName} {
    set timer [after 900000 {error "nothing came in a quarter of an hour"}]
    vwait $varName
    after cancel $timer
}

# Runs a script in a coroutine on the event loop, to its end.
proc in_coroutine {body args} {
    set ::ended ""
    coroutine tested apply {{body arguments} {
        set code [catch {apply $body {*}$arguments} result options]
        set ::ended [list $options $result]
    }} $body $args
    if {$::ended eq ""} {wait_for ::ended}
    return -options [lindex $::ended 0] [lindex $::ended 1]
}

# Runs a program in a separate Tcl, which must end by itself; returns its output.
proc run_tcl {program} {
    set path [file join $::env(TMPDIR) program-[pid].tcl]
    set file [open $path w]
    puts $file "package require runcible"
    puts $file $program
    close $file
    try {
        return [exec timeout 900 [info nameofexecutable] $path 2>@1]
    } finally {
        file delete $path
    }
}
