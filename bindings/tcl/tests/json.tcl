# Schemas, tools, choices and messages as dicts, and the JSON that is written for them.

proc plain_chat {args} {
    if {![info exists ::plain_model]} {
        set ::plain_model [runcible::Model new builtin:fable -backend cpu]
    }
    return [[$::plain_model session] chat -template_name zephyr {*}$args]
}

set sky {type object required {clouds sky}
    properties {clouds {type integer const 2} sky {const gréy}}}

it schemas_have_types_by_their_keywords {
    foreach {schema json} {
        {type object} {{"type":"object"}}
        {type {string null}} {{"type":["string","null"]}}
        {enum {a 2 true null "b c"}} {{"enum":["a",2,true,null,"b c"]}}
        {type string enum {2 true}} {{"type":"string","enum":["2","true"]}}
        {const -1.5e3} {{"const":-1.5e3}}
        {const 007} {{"const":"007"}}
        {required {a b}} {{"required":["a","b"]}}
        {required {}} {{"required":[]}}
        {properties {}} {{"properties":{}}}
        {properties {type {type string} enum {minLength 1}}}
        {{"properties":{"type":{"type":"string"},"enum":{"minLength":1}}}}
        {items false additionalProperties {type null}}
        {{"items":false,"additionalProperties":{"type":"null"}}}
        {anyOf {{type string} {{"type": "null"}} true}}
        {{"anyOf":[{"type":"string"},{"type": "null"},true]}}
        {title 5 pattern ^1$ uniqueItems true} {{"title":"5","pattern":"^1$","uniqueItems":true}}
        {{"type": "array"}} {{"type": "array"}}
        true true
    } {
        set found [::runcible::SchemaJson $schema schema]
        check {$found eq $json}
    }
}

it schemas_are_dicts_or_json {
    set json {{"type": "object", "required": ["clouds", "sky"],
        "properties": {"clouds": {"type": "integer", "const": 2}, "sky": {"const": "gréy"}}}}
    plain_chat
    foreach schema [list $::sky $json] {
        set grammar [runcible::Grammar new $::plain_model json_schema $schema]
        check {[[$::plain_model session] generate A -grammar $grammar] eq {{"clouds":2,"sky":"gréy"}}}
        foreach format [list \
            [dict create type json_schema json_schema [dict create name sky strict 1 schema $schema]] \
            "{\"type\": \"json_schema\", \"json_schema\": {\"name\": \"sky\", \"schema\": [
                ::runcible::SchemaJson $schema schema]}}"] {
            set reply [[plain_chat] ask "How is it?" -response_format $format]
            set made [::json::json2dict [dict get $reply text]]
            check {[dict get $made clouds] == 2 && [dict get $made sky] eq "gréy"}
        }
    }
}

it tools_are_dicts {
    set tool [dict create type function function [dict create name get_time strict true \
        description "Tells the time." parameters {type object properties {}}]]
    set chat [talker -tools [list $tool]]
    set reply [$chat ask Hello! -tool_choice {type function function {name get_time}}]
    check {[dict get [lindex [dict get $reply calls] 0] name] eq "get_time"}
    $chat add [dict create role tool content 07:15 \
        tool_call_id [dict get [lindex [dict get $reply calls] 0] id]]
    $chat destroy
}

it messages_are_dicts {
    set chat [plain_chat]
    $chat add {role user content {a "b"}}
    $chat add {{role assistant content 5} {role user content true}}
    set found [lmap each [::json::json2dict [$chat messages]] {dict get $each content}]
    check {$found eq {{a "b"} 5 true}}
    $chat add {{role assistant tool_calls {{id c1 type function function {name f arguments {{"a": 1}}}}}}
        {role tool tool_call_id c1 content done}}
    check {[llength [::json::json2dict [$chat messages]]] == 5}
}

it errors_name_the_argument {
    set chat [plain_chat]
    $chat say a
    foreach {name wrong} {
        -response_format {$chat answer -response_format {type json_schema json_schema}}
        -response_format {$chat answer -response_format {type json_schema json_schema {schema {properties a}}}}
        -tool_choice {$chat answer -tool_choice {type function function}}
        schema {runcible::Grammar new $::plain_model json_schema {properties {a b c}}}
        -tools {plain_chat -tools {{type function function look}}}
        messages {$chat add {role user content}}
        messages {$chat add "a \{"}
        -tools {plain_chat -tools "a \{"}
    } {
        check {[catch $wrong message] && [string first $name $message] == 0}
    }
}
