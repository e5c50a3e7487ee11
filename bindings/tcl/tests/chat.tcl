# Tests of conversations in addition to the cases.

proc talker {args} {
    if {![info exists ::talker]} {
        set ::talker [runcible::Model new builtin:fabulist -backend cpu]
    }
    set session [$::talker session]
    return [$session chat {*}$args]
}

set clock {[{"type": "function", "function": {"name": "get_time", "strict": true,
    "description": "Tells the time.", "parameters": {"type": "object", "properties": {}}}}]}

it a_second_question_continues_the_conversation {
    set chat [talker]
    set reply [$chat ask "Tell me the fox and the well." -temperature 0]
    check {[string match "A fox fell into a well*" [dict get $reply text]]}
    check {[dict get $reply report reason] eq "stop"}
    set reply [$chat ask "And the moral?" -temperature 0]
    check {[dict get $reply report prompt_tokens] < 40}
    $chat undo 2
    check {[llength [::json::json2dict [$chat messages]]] == 2}
    $chat destroy
}

it a_tool_is_called_and_its_result_used {
    set chat [talker -tools $::clock]
    set reply [$chat ask "What time is it?" -temperature 0]
    set call [lindex [dict get $reply calls] 0]
    check {[dict get $call name] eq "get_time"}
    check {[dict get $reply report reason] eq "tool calls"}
    $chat add_result [dict get $call id] "07:15"
    set answer [$chat answer -temperature 0]
    check {[string match *07:15* [$answer text]]}
    $answer destroy
    set reply [$chat ask Hello! -tool_choice required]
    check {[dict get [lindex [dict get $reply calls] 0] name] eq "get_time"}
    $chat destroy
}

it a_command_receives_parts {
    set chat [talker]
    $chat say Hello!
    set ::received ""
    set ::ended {}
    $chat stream -temperature 0 -command {apply {{stream what value args} {
        if {$what eq "piece"} {append ::received [dict get $value text]}
        if {$what ne "piece"} {set ::ended $what}
    }}}
    wait_for ::ended
    check {$::ended eq "end"}
    check {[string match Hello!* $::received]}
    $chat destroy
}

it messages_may_have_any_characters {
    set chat [talker]
    set said "\"quoted\" \\ \n\t\u0001 h\u00e9ron"
    $chat say $said
    check {[dict get [lindex [::json::json2dict [$chat messages]] 0] content] eq $said}
    $chat destroy
}

it wrong_values_are_refused {
    set session [[box] session]
    check {[failure {$session chat -template_name zephyr -thinking perhaps}] eq "VALUE"}
    check {[failure {$session chat -colour red}] eq "VALUE"}
    check {[failure {$session chat}] eq "NOT_FOUND"}
    check {[failure {$session generate "" -grammar fox}] eq "VALUE"}
    check {[failure {runcible::Grammar new [box] rhyme fox}] eq "VALUE"}
    check {[failure {runcible::Grammar new [box] regex fox -max_depth 2}] eq "VALUE"}
    set chat [$session chat -template_name zephyr]
    check {[failure {$chat add "\{"}] eq "INVALID_ARGUMENT"}
    check {[failure {$chat undo 3}] eq "INVALID_ARGUMENT"}
    $chat close
    check {[failure {$chat messages}] eq "CLOSED"}
    $chat destroy
    $session destroy
}
