# Models; see runcible/model.h.

namespace eval ::runcible {
    # The loads in progress, the innermost last: the command that receives the
    # progress, and the error that it raised.
    variable progress {}
}

# Called by the library while it loads, in the thread that loads.
proc ::runcible::ReportProgress {fraction} {
    variable progress
    set command [lindex $progress end 0]
    if {[catch {uplevel #0 [list {*}$command $fraction]} message options]} {
        lset progress end [list $command $message $options]
        error $message
    }
}

# Calls {*}$load, which may report its progress.
proc ::runcible::WithProgress {command load} {
    variable progress
    lappend progress [list $command]
    try {
        return [{*}$load]
    } trap {RUNCIBLE CANCELLED} {message options} {
        # Cancelled by an error of the command, which is raised instead.
        if {[llength [lindex $progress end]] == 3} {
            lassign [lindex $progress end] command message options
        }
        return -options $options $message
    } finally {
        set progress [lrange $progress 0 end-1]
    }
}

# Loads with options of the library, which come last.
proc ::runcible::LoadModel {path progress backend options} {
    if {$progress eq ""} {
        return [native::model_load $backend $path $options]
    }
    native::model_options_tell_progress $options
    return [WithProgress $progress [list native::model_load $backend $path $options]]
}

# Fetches the parts of a model on a hub that are not yet on this machine, and
# loads the model: returns a Model. The source is "OWNER/NAME", "OWNER/NAME:FILE"
# or "OWNER/NAME:Q4_K_M", with or without the prefix "hf:"; arguments as for
# Model, and -revision and -cache, a folder.
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

# Returns the memory that loading would take, without loading: a dict with a list
# of the memory on each device as `devices`, the opened one first, and of
# alternatives that would fit as `offers`. Arguments as for Model.
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

# Reads a file to its last byte and checks everything; does not load it.
proc ::runcible::verify {path} {
    native::model_verify $path
}

# Returns the options that are given, with defaults for the others. There are no
# options without a default.
proc ::runcible::Defaulted {options defaults} {
    set pairs [Pairs $options]
    RefuseRest [dict remove $pairs {*}[dict keys $defaults]]
    return [dict merge $defaults $pairs]
}

# Returns the milliseconds of a -deadline, 0 if none is given.
proc ::runcible::DeadlineOf {given} {
    set deadline [dict get $given deadline]
    return [expr {$deadline eq "" ? 0 : [Milliseconds $deadline -deadline]}]
}

# Begins with `args` and the texts as a list of the library, waits, and returns
# the rows.
proc ::runcible::RowsOf {texts begin args} {
    set list [native::new_text_list]
    try {
        foreach text $texts {native::text_list_add $list $text}
        set embedding [{*}$begin $list {*}$args]
    } finally {
        native::dispose $list
    }
    try {
        native::embedding_wait $embedding -1
        lassign [native::embedding_rows $embedding] bytes rows columns
        set made {}
        for {set row 0} {$row < $rows} {incr row} {
            binary scan $bytes "@[expr {4 * $row * $columns}]f$columns" numbers
            lappend made $numbers
        }
        return $made
    } finally {
        native::dispose $embedding
    }
}

# The weights and the tokenizer of a model on a device.
oo::class create ::runcible::Model {
    superclass ::runcible::Handle
    variable handle tokenizer

    # Loads a file, or "builtin:NAME" for a model that comes with Runcible.
    # :api: members rc_model_options
    # Further options: -backend, a Backend or a chain such as "vulkan,cpu";
    # -progress, a command that receives the fraction done, 0 to 1: if it raises
    # an error, the load is cancelled, and raises the error.
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

    # Returns the model's tokenizer, which is closed with the model; {RUNCIBLE
    # UNSUPPORTED} if it has none.
    method tokenizer {} {
        set own [my Handle]
        if {![info exists tokenizer]} {
            set tokenizer [::runcible::Tokenizer new "" -handle \
                [::runcible::native::model_get_tokenizer $own]]
        }
        return $tokenizer
    }

    # See the method tokenize of Tokenizer.
    method tokenize {text args} {
        return [[my tokenizer] tokenize $text {*}$args]
    }

    # See the method detokenize of Tokenizer.
    method detokenize {tokens args} {
        return [[my tokenizer] detokenize $tokens {*}$args]
    }

    # Returns the metadata of the model's file, a dict.
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

    # Makes embeddings of texts: a list of rows, one for each text, each a list of
    # numbers. Options: -pooling, mean, cls or last (default: as the model's file
    # says); -normalize (default: as the model's file says); -dimensions, to keep
    # only the first numbers of each row; -truncate, to truncate texts that are
    # too long; -prompt, put before each text, or -prompt_name, query or document,
    # one of the model's prompts; -priority; -deadline in seconds. Models that
    # generate text support it if they were loaded with -output hidden_rows.
    method embed {texts args} {
        set given [::runcible::Defaulted $args {
            pooling auto normalize -1 dimensions 0 truncate 0 prompt "" prompt_name ""
            priority 0 deadline ""
        }]
        set pooling [lsearch -exact {auto mean cls last} [dict get $given pooling]]
        if {$pooling < 0} {
            ::runcible::Refuse "pooling must be auto, mean, cls or last"
        }
        return [::runcible::RowsOf $texts [list ::runcible::native::model_embed [my Handle]] \
            $pooling [dict get $given normalize] [dict get $given dimensions] \
            [expr {bool([dict get $given truncate])}] [dict get $given prompt] \
            [dict get $given prompt_name] [dict get $given priority] \
            [::runcible::DeadlineOf $given]]
    }

    # Returns how well each document answers the query: a list of probabilities,
    # in the order of the documents. Options: -raw_scores, for the logits of the
    # model instead of probabilities; -truncate, -priority and -deadline as for
    # embed; -prompt, the question for a model that generates text, with {query}
    # and {document}. Such models support it if they were loaded with -output
    # scores.
    method rerank {query documents args} {
        set given [::runcible::Defaulted $args {
            raw_scores 0 truncate 0 prompt "" priority 0 deadline ""
        }]
        set rows [::runcible::RowsOf $documents \
            [list ::runcible::native::model_rerank [my Handle] $query] \
            [expr {bool([dict get $given raw_scores])}] \
            [expr {bool([dict get $given truncate])}] [dict get $given prompt] \
            [dict get $given priority] \
            [::runcible::DeadlineOf $given]]
        return [lmap row $rows {lindex $row 0}]
    }

    # Makes an empty session; see Session.
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
