# JSON of schemas, tools, choices, messages and prices that are dicts. A value of
# Tcl has no type: the type of each member follows from its name, by JSON Schema,
# OpenAI's chat completions and runcible/tenant.h. Where they allow several types,
# in `const`, `enum`, `default` and `examples`, a word that looks like a number,
# true, false or null is written as such, unless the schema says `type string`.
# Where this is not enough, pass JSON, which is accepted everywhere.

namespace eval ::runcible {
    # Keywords of schemas by the kind of their value.
    variable keywords {
        schemas {properties patternProperties $defs definitions dependentSchemas}
        schema {items additionalProperties additionalItems unevaluatedItems
            unevaluatedProperties contains not if then else propertyNames contentSchema}
        list {prefixItems anyOf allOf oneOf}
        texts {required}
        text {title description $ref $id $schema $anchor $comment format pattern
            contentEncoding contentMediaType}
        values {enum examples}
    }
}

# Writes a text as JSON.
proc ::runcible::JsonText {text} {
    set map {\\ \\\\ \" \\\"}
    for {set i 0} {$i < 32} {incr i} {lappend map [format %c $i] [format {\u%04x} $i]}
    return "\"[string map $map $text]\""
}

# Returns whether a value is JSON of an object or an array, and not a dict or
# list: a key of a dict does not begin with a quote, and the first element of a
# list does not begin with a bracket.
proc ::runcible::IsJson {value} {
    return [regexp {^\s*(\[|\{\s*(["\}]|$))} $value]
}

# Writes a JSON object of pairs of a name and JSON.
proc ::runcible::JsonObject {members} {
    set parts {}
    dict for {name json} $members {lappend parts [JsonText $name]:$json}
    return "{[join $parts ,]}"
}

proc ::runcible::JsonArray {items} {
    return "\[[join $items ,]\]"
}

proc ::runcible::JsonTexts {texts} {
    return [JsonArray [lmap each $texts {JsonText $each}]]
}

# Writes a word that looks like a number, true, false or null as such, others as text.
proc ::runcible::JsonValue {value {type ""}} {
    set number {^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$}
    if {$type ne "string" && ($value in {true false null} || [regexp $number $value])} {
        return $value
    }
    return [JsonText $value]
}

proc ::runcible::JsonFlag {value name} {
    if {![string is boolean -strict $value]} {Refuse "$name must be a boolean, not \"$value\""}
    return [expr {$value ? "true" : "false"}]
}

proc ::runcible::NeedDict {value name} {
    if {[catch {dict size $value}]} {Refuse "$name must be a dict, or JSON, not \"$value\""}
}

proc ::runcible::NeedList {value name} {
    if {[catch {llength $value}]} {Refuse "$name must be a list, or JSON, not \"$value\""}
}

# Writes a schema, a dict or JSON, as JSON. `name` is the name of the argument.
proc ::runcible::SchemaJson {schema name} {
    variable keywords
    set schema [string trim $schema]
    if {$schema in {true false} || [IsJson $schema]} {return $schema}
    NeedDict $schema $name
    set type [expr {[dict exists $schema type] ? [dict get $schema type] : ""}]
    set made {}
    dict for {keyword value} $schema {
        set at $name/$keyword
        set kind value
        dict for {each words} $keywords {if {$keyword in $words} {set kind $each}}
        if {$keyword eq "type"} {set kind [expr {[llength $value] == 1 ? "text" : "texts"}]}
        switch $kind {
            schemas {
                NeedDict $value $at
                set json {}
                dict for {key each} $value {dict set json $key [SchemaJson $each $at/$key]}
                set json [JsonObject $json]
            }
            schema {set json [SchemaJson $value $at]}
            list {set json [JsonArray [lmap each $value {SchemaJson $each $at}]]}
            texts {set json [JsonTexts $value]}
            text {set json [JsonText $value]}
            values {set json [JsonArray [lmap each $value {JsonValue $each $type}]]}
            default {set json [JsonValue $value $type]}
        }
        dict set made $keyword $json
    }
    return [JsonObject $made]
}

# Writes the description of a function, or the schema of an answer: a dict with a
# name, a schema under `key`, and texts.
proc ::runcible::DescribedJson {described key name} {
    NeedDict $described $name
    set made {}
    dict for {member value} $described {
        dict set made $member [switch $member [list \
            $key {SchemaJson $value $name.$member} \
            strict {JsonFlag $value $name.$member} \
            default {JsonText $value}]]
    }
    return [JsonObject $made]
}

# Writes tools, a list of dicts or JSON, as JSON.
proc ::runcible::ToolsJson {tools name} {
    if {[IsJson $tools]} {return $tools}
    NeedList $tools $name
    set made {}
    foreach tool $tools {
        lappend made [TypedJson $tool $name function {{value name} {
            ::runcible::DescribedJson $value parameters $name
        }}]
    }
    return [JsonArray $made]
}

# Writes a dict of a type with one member that {apply $lambda} writes.
proc ::runcible::TypedJson {given name member lambda} {
    if {[IsJson $given]} {return $given}
    NeedDict $given $name
    set made {}
    dict for {key value} $given {
        dict set made $key [expr {$key eq $member
            ? [apply $lambda $value $name.$key] : [JsonText $value]}]
    }
    return [JsonObject $made]
}

# Writes an option of an answer: a word, a dict or JSON.
proc ::runcible::OptionJson {value name} {
    if {$name eq "-tool_choice"} {
        if {[llength $value] == 1} {return $value}
        return [TypedJson $value $name function {{value name} {
            ::runcible::NeedDict $value $name
            ::runcible::JsonObject [dict map {key each} $value {::runcible::JsonText $each}]
        }}]
    }
    return [TypedJson $value $name json_schema {{value name} {
        ::runcible::DescribedJson $value schema $name
    }}]
}

# Writes prices, a dict or JSON, as JSON.
proc ::runcible::PricesJson {prices} {
    if {[IsJson $prices]} {return $prices}
    NeedDict $prices prices
    set made {}
    dict for {name value} $prices {
        dict set made $name [switch $name {
            device_hour - million_tokens - gib_hour {
                NeedDict $value prices.$name
                JsonObject [dict map {key price} $value {JsonValue $price}]
            }
            default {JsonText $value}
        }]
    }
    return [JsonObject $made]
}

# Writes messages, one dict, a list of dicts, or JSON of either, as JSON.
proc ::runcible::MessagesJson {messages} {
    if {[IsJson $messages]} {return $messages}
    NeedList $messages messages
    if {![catch {dict exists $messages role} found] && $found} {
        return [MessageJson $messages messages]
    }
    set place -1
    return [JsonArray [lmap each $messages {
        if {[IsJson $each]} {incr place; set each} else {MessageJson $each "messages\[[incr place]\]"}
    }]]
}

proc ::runcible::MessageJson {message name} {
    return [TypedJson $message $name tool_calls {{calls name} {
        ::runcible::JsonArray [lmap call $calls {
            ::runcible::TypedJson $call $name function {{function name} {
                ::runcible::NeedDict $function $name
                ::runcible::JsonObject [dict map {key each} $function {::runcible::JsonText $each}]
            }}
        }]
    }}]
}
