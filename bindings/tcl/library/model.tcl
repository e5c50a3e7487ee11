# Models; see runcible/model.h.

namespace eval ::runcible {
    # Of the loads under way, the innermost last: what is told how far it is, and
    # the error that it raised.
    variable progress {}
}

# Called by the library while it loads, in the thread that does.
proc ::runcible::TellProgress {fraction} {
    variable progress
    set command [lindex $progress end 0]
    if {[catch {uplevel #0 [list {*}$command $fraction]} message options]} {
        lset progress end [list $command $message $options]
        error $message
    }
}

# Calls {*}$load, which may tell how far it is.
proc ::runcible::WithProgress {command load} {
    variable progress
    lappend progress [list $command]
    try {
        return [{*}$load]
    } trap {RUNCIBLE CANCELLED} {message options} {
        # By an error of the command, which is told instead.
        if {[llength [lindex $progress end]] == 3} {
            lassign [lindex $progress end] command message options
        }
        return -options $options $message
    } finally {
        set progress [lrange $progress 0 end-1]
    }
}

# Loads with options of the library, which come last.
proc ::runcible::LoadModel {path told backend options} {
    if {$told eq ""} {
        return [native::model_load $backend $path $options]
    }
    native::model_options_tell_progress $options
    return [WithProgress $told [list native::model_load $backend $path $options]]
}

# Fetches what is not here yet of a model on a hub, and loads it: a Model. The
# source is "OWNER/NAME", "OWNER/NAME:FILE" or "OWNER/NAME:Q4_K_M", with or without
# "hf:" before it; arguments as of Model, and -revision and -cache, a folder.
# :header: rc_model_fetch
proc ::runcible::from_hub {source args} {
    set pairs [dict merge {revision "" cache ""} [Pairs $args]]
    if {![string match hf:* $source]} {
        set source hf:$source
    }
    set path [native::model_fetch $source [dict get $pairs revision] \
        [dict get $pairs cache] ""]
    set others {}
    dict for {name value} [dict remove $pairs revision cache] {
        lappend others -$name $value
    }
    return [Model new $path {*}$others]
}

# What loading would take, loading nothing: a dict with a list of what each device
# takes as `devices`, the opened one first, and of what would fit instead as
# `offers`. Arguments as of Model.
proc ::runcible::plan {path args} {
    set pairs [dict merge {backend ""} [Pairs $args]]
    set made [WithBackend [dict get $pairs backend] [list apply {{path pairs backend} {
        WithOptions model_options $pairs [list apply {{path backend options} {
            native::model_plan $path $options $backend
        } ::runcible} $path $backend]
    } ::runcible} $path [dict remove $pairs backend]]]
    try {
        set plan [Report plan_report [list native::plan_describe $made]]
        set devices {}
        for {set i 0} {$i < [dict get $plan device_count]} {incr i} {
            lappend devices [Report plan_device_report [list native::plan_device $made $i]]
        }
        dict set plan devices $devices
        set offers {}
        for {set i 0} {$i < [dict get $plan offer_count]} {incr i} {
            lappend offers [Report plan_offer_report [list native::plan_offer $made $i]]
        }
        dict set plan offers $offers
        return $plan
    } finally {
        native::dispose $made
    }
}

# Reads a file to its last byte and checks everything; loads nothing.
proc ::runcible::verify {path} {
    native::model_verify $path
}

# Weights and tokenizer on a device.
oo::class create ::runcible::Model {
    superclass ::runcible::Handle
    variable handle tokenizer

    # Loads a file, or "builtin:NAME" for a model that comes with Runcible.
    # :api: members rc_model_options
    # And -backend, a Backend or a chain such as "vulkan,cpu"; -progress, a command
    # that is told the fraction done, 0 to 1: if it raises an error the load is
    # cancelled, and raises it.
    constructor {path args} {
        set pairs [dict merge {backend "" progress ""} \
            [::runcible::Pairs $args]]
        set handle [::runcible::WithBackend [dict get $pairs backend] [list apply {
            {path pairs progress backend} {
                WithOptions model_options $pairs [list LoadModel $path $progress $backend]
            } ::runcible
        } $path [dict remove $pairs backend progress] [dict get $pairs progress]]]
    }

    # :api: methods rc_model

    # The model's tokenizer, which goes with the model; {RUNCIBLE UNSUPPORTED} if it
    # has none.
    method tokenizer {} {
        set own [my Handle]
        if {![info exists tokenizer]} {
            set tokenizer [::runcible::Tokenizer new "" -handle \
                [::runcible::native::model_get_tokenizer $own]]
        }
        return $tokenizer
    }

    # See Tokenizer.
    method tokenize {text args} {
        return [[my tokenizer] tokenize $text {*}$args]
    }

    # See Tokenizer.
    method detokenize {tokens args} {
        return [[my tokenizer] detokenize $tokens {*}$args]
    }

    # The metadata of the model's file, a dict.
    method metadata {} {
        set info [::runcible::native::model_get_info [my Handle]]
        try {
            set metadata {}
            for {set i 0} {$i < [::runcible::native::model_info_metadata_count $info]} {incr i} {
                lassign [::runcible::native::model_info_metadata $info $i] key
                dict set metadata $key \
                    [::runcible::Decoded [::runcible::native::model_info_value $info $key 0]]
            }
            return $metadata
        } finally {
            ::runcible::native::dispose $info
        }
    }

    # An empty session; see Session.
    method session {args} {
        return [::runcible::Session new [self] {*}$args]
    }

    method close {} {
        if {[info exists tokenizer]} {
            $tokenizer destroy
            unset tokenizer
        }
        next
    }
}
