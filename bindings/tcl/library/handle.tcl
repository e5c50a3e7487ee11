# Common functions of the objects that stand for a handle of the library, and of
# options and reports.

# Returns the constants of the library that begin with a prefix, by the rest of
# their names in lower case.
proc ::runcible::Constants {prefix} {
    set found {}
    foreach constant [info vars [namespace current]::native::${prefix}*] {
        set name [string range [namespace tail $constant] [string length $prefix] end]
        dict set found [string tolower $name] [set $constant]
    }
    return $found
}

# Raises an error for an invalid value.
proc ::runcible::Refuse {message} {
    return -level 2 -code error -errorcode {RUNCIBLE VALUE} $message
}

# Returns the value of a name in a dict; raises an error that lists all names.
proc ::runcible::Chosen {choices what name} {
    if {![dict exists $choices $name]} {
        Refuse "$what must be one of [join [dict keys $choices] {, }], not \"$name\""
    }
    return [dict get $choices $name]
}

# Returns the number of an option with named values.
proc ::runcible::Choice {option name what} {
    variable choices
    return [Chosen [Constants [dict get $choices $option]] $what $name]
}

proc ::runcible::DtypeNumber {name} {
    return [Choice dtype $name "the dtype"]
}

proc ::runcible::DtypeName {number} {
    return [lindex [dict keys [dict filter [Constants DTYPE_] value $number]] 0]
}

# Returns the milliseconds of a time in seconds, rounded up so that no limit ends
# before its time, except for the rounding error of binary fractions. At least 1,
# because 0 means no limit to the library.
proc ::runcible::Milliseconds {seconds name} {
    if {![string is double -strict $seconds]
        || [catch {expr {$seconds >= 0 && $seconds <= 1e12}} fits] || !$fits} {
        Refuse "$name must be from 0 to 1e12 seconds, not \"$seconds\""
    }
    return [expr {max(1, entier(ceil($seconds * 1000 - 1e-6)))}]
}

# Returns options -NAME VALUE as a dict of names without the dash.
proc ::runcible::Pairs {options} {
    if {[llength $options] % 2} {
        Refuse "the option \"[lindex $options end]\" has no value"
    }
    set pairs {}
    foreach {name value} $options {
        if {[string index $name 0] ne "-"} {
            Refuse "options begin with a dash, but not \"$name\""
        }
        dict set pairs [string range $name 1 end] $value
    }
    return $pairs
}

# Sets one member. A time has a name without a unit, and an option with named
# values takes the name.
proc ::runcible::SetOption {kind options name value} {
    variable choices
    variable jsons
    variable pairs
    variable times
    set setter [namespace current]::native::${kind}_${name}_set
    set values [list $value]
    if {$name in $pairs} {
        set setter [namespace current]::native::${kind}_set_${name}
        set values $value
    } elseif {[dict exists $times $name]} {
        set setter [namespace current]::native::${kind}_[dict get $times $name]_set
    }
    if {[namespace which -command $setter] eq ""} {
        Refuse "there is no option \"-$name\""
    }
    if {[dict exists $times $name]} {
        set values [Milliseconds $value -$name]
    } elseif {$name in $jsons} {
        set values [list [OptionJson $value -$name]]
    } elseif {[dict exists $choices $name]} {
        set values [list [Choice $name $value -$name]]
    }
    if {[catch {$setter $options {*}$values} message]} {
        Refuse "-$name: $message"
    }
}

# Calls {*}$command with a struct of options appended, which is freed afterwards.
proc ::runcible::WithOptions {kind pairs command} {
    set options [native::new_$kind]
    try {
        dict for {name value} $pairs {
            SetOption $kind $options $name $value
        }
        return [{*}$command $options]
    } finally {
        native::dispose $options
    }
}

# Returns a report that {*}$command fills in, as a dict.
proc ::runcible::Report {kind command} {
    set report [native::new_$kind]
    try {
        {*}$command $report
        return [Copied $kind $report]
    } finally {
        native::dispose $report
    }
}

proc ::runcible::Copied {kind report} {
    set prefix [namespace current]::native::${kind}_
    set copy {}
    foreach getter [lsort [info commands ${prefix}*_get]] {
        dict set copy [string range $getter [string length $prefix] end-4] [$getter $report]
    }
    if {$kind eq "device_report"} {
        dict set copy kind [dict get [lreverse [Constants DEVICE_]] [dict get $copy kind]]
    }
    return $copy
}

# Reads JSON as dicts and lists, by tcllib.
proc ::runcible::Decoded {json} {
    package require json
    return [::json::json2dict $json]
}

# Returns the handle of an object, which must be open and of one of the package's
# classes.
proc ::runcible::Need {object class what} {
    if {![info object isa object $object]
        || ![info object isa typeof $object [namespace current]::$class]} {
        Refuse "$what must be a $class, not \"$object\""
    }
    return [[info object namespace $object]::my Handle]
}

# Owns a handle of the library until it is closed or destroyed, in any order: the
# library keeps the handles that another handle needs.
oo::class create ::runcible::Handle {
    variable handle

    method Handle {} {
        if {![info exists handle]} {
            set class [namespace tail [info object class [self]]]
            throw {RUNCIBLE CLOSED -17} "this $class is closed"
        }
        return $handle
    }

    # Releases the handle; using it afterwards raises {RUNCIBLE CLOSED -17}.
    method close {} {
        if {[info exists handle]} {
            set given $handle
            unset handle
            ::runcible::native::dispose $given
        }
    }

    method closed {} {
        return [expr {![info exists handle]}]
    }

    destructor {
        my close
    }
}
