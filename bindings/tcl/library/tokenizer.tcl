# Converts text to tokens and back; see runcible/model.h.

# Returns the flags of the options add_special (default: 1) and parse_special
# (default: 0), and removes them from the dict in `pairs_name`.
proc ::runcible::TokenizeFlags {pairs_name} {
    upvar 1 $pairs_name pairs
    set flags 0
    foreach {name default flag} [list \
        add_special 1 $native::TOKENIZE_ADD_SPECIAL \
        parse_special 0 $native::TOKENIZE_PARSE_SPECIAL] {
        set value $default
        if {[dict exists $pairs $name]} {
            set value [dict get $pairs $name]
            dict unset pairs $name
        }
        if {![string is boolean -strict $value]} {
            Refuse "-$name must be a boolean, not \"$value\""
        }
        if {$value} {incr flags $flag}
    }
    return $flags
}

proc ::runcible::RefuseRest {pairs} {
    if {[dict size $pairs]} {
        Refuse "there is no option \"-[lindex [dict keys $pairs] 0]\""
    }
}

oo::class create ::runcible::Tokenizer {
    superclass ::runcible::Handle
    variable handle

    # Opens the tokenizer that a file describes, without loading the model.
    constructor {path args} {
        if {[lindex $args 0] eq "-handle"} {
            set handle [lindex $args 1]
        } else {
            set handle [::runcible::native::tokenizer_open $path]
        }
    }

    # Returns the tokens of a text. Options: -add_special, -parse_special.
    method tokenize {text args} {
        set pairs [::runcible::Pairs $args]
        set flags [::runcible::TokenizeFlags pairs]
        ::runcible::RefuseRest $pairs
        return [::runcible::native::tokenize [my Handle] $text $flags]
    }

    # Returns the text of tokens; with -special 1 also that of special tokens.
    method detokenize {tokens args} {
        set pairs [dict merge {special 0} [::runcible::Pairs $args]]
        ::runcible::RefuseRest [dict remove $pairs special]
        return [::runcible::native::detokenize [my Handle] $tokens [dict get $pairs special]]
    }

    # :api: methods rc_tokenizer
}
