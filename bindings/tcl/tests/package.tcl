# What the package gives, beside the cases of all languages.

set ::backend [runcible::Backend new cpu]

proc tensor {numbers args} {
    return [runcible::Tensor new $numbers $::backend {*}$args]
}

it package_discover {
    set found [runcible::discover]
    foreach device [dict get $found devices] {
        check {[dict get $device index] >= 0 || [dict get $device reason] ne ""}
        if {[dict get $device id] eq "cpu:0"} {set cpu $device}
    }
    check {[dict get $cpu kind] eq "cpu"}
    check {[dict get $cpu total_memory] > 0}
    check {[dict get $found automatic] ne ""}
}

it package_plan {
    set plan [runcible::plan builtin:fable -backend $::backend -context_length 64]
    check {[dict get $plan fits]}
    check {[dict get $plan context_length] == 64}
    set devices [dict get $plan devices]
    check {[llength $devices] == 1}
    check {[dict get [lindex $devices 0] device] eq "cpu:0"}
    check {[dict get [lindex $devices 0] total] == [dict get $plan total]}
    check {[dict get $plan offers] eq ""}
    set small [runcible::Backend new cpu -memory_limit 4500000]
    set plan [runcible::plan builtin:fable -backend $small -context_length 64]
    check {![dict get $plan fits]}
    set options [lmap offer [dict get $plan offers] {dict get $offer option}]
    check {"keep_mapped" in $options}
}

it package_verify {
    runcible::verify builtin:fable
    check {[failure {runcible::verify /nothing.gguf}] eq "NOT_FOUND"}
}

it package_backend {
    set model [runcible::Model new builtin:fable -backend $::backend]
    [$model session] generate A -max_tokens 3
    check {[dict get [$::backend device] id] eq "cpu:0"}
    check {[dict get [$::backend explain] device id] eq "cpu:0"}
    check {[dict get [$::backend usage] generated_tokens] >= 3}
    check {[failure {$::backend trace}] eq "UNSUPPORTED"}
    set traced [runcible::Backend new cpu -profile 1]
    check {[string match "*traceEvents*" [$traced trace]]}
    $traced destroy
}

it package_metadata {
    check {[dict get [[box] metadata] general.architecture] eq "llama"}
    check {[llength [dict get [[box] metadata] tokenizer.ggml.tokens]] == 2048}
    check {[dict get [[[box] tokenizer] report] vocabulary] == 2048}
    set opened [runcible::Tokenizer new builtin:fable]
    check {[$opened tokenize "A fox"] eq [[box] tokenize "A fox"]}
    $opened destroy
}

it package_all_characters {
    foreach text [list "Gr\u00fc\u00dfe" "a\u0000b" "\ud83d\ude00 x" "\u4f60\u597d"] {
        set tokens [[box] tokenize $text -add_special 0]
        check {[[box] detokenize $tokens] eq $text}
    }
    # A smile has four bytes in UTF-8, and two characters in Tcl 8.6.
    check {[[box] tokenize "\ud83d\ude00" -add_special 0]
        eq [[box] tokenize [encoding convertfrom utf-8 "\xf0\x9f\x98\x80"] -add_special 0]}
}

it package_progress {
    set ::told {}
    [runcible::Model new builtin:fable -backend reference -progress {lappend ::told}] destroy
    check {[lindex $::told end] == 1}
    check {$::told eq [lsort -real $::told]}
}

it package_pieces {
    set generation [[[box] session] start A -max_tokens 5 -logprobs 3]
    check {[$generation report] eq ""}
    set count 0
    $generation foreach piece {
        check {[llength [$generation logprobs]] == 2 * [llength [$generation tokens]]}
        foreach token [$generation tokens] {own logprob} [$generation logprobs] best [$generation top_logprobs] {
            check {$own == $token && $logprob <= 0}
            check {[llength $best] == 6 && [lindex $best 1] >= [lindex $best 3]}
            incr count
        }
    }
    check {$count == 5}
    check {[dict get [$generation report] generated_tokens] == 5}
    check {[dict get [$generation report] reason] eq "length"}
    $generation destroy
}

it package_foreach_is_a_loop {
    set session [[box] session]
    set count 0
    $session foreach piece A -max_tokens 10 -ignore_eos 1 {
        incr count
        if {$count < 3} continue
        break
    }
    check {$count == 3}
    $session append more ;# no longer busy
    check {[apply {{session} {
        $session foreach piece A -max_tokens 10 {return "of the procedure"}
    }} $session] eq "of the procedure"}
    check {[catch {$session foreach piece A -max_tokens 10 {error mine}} message] == 1}
    check {$message eq "mine"}
    $session append more
    $session destroy
}

proc text {args} {
    return [[[box] session] generate A -seed 1 {*}$args]
}

it package_options {
    check {[text -max_tokens 5] eq [text -max_tokens 5]}
    check {[text -max_tokens 5 -echo 1] eq "A[text -max_tokens 5]"}
    set whole [text -max_tokens 20]
    set stop [string range $whole 10 13]
    set begin [string range $whole 0 [string first $stop $whole]-1]
    check {[text -max_tokens 20 -stop [list $stop]] eq $begin}
    check {[text -max_tokens 20 -stop [list $stop "\u0001"]] eq $begin}
    set generation [[[box] session] start A -max_tokens 1 -temperature 0]
    $generation next piece
    set token [$generation tokens]
    $generation destroy
    set greedy [text -temperature 0 -max_tokens 1]
    check {[text -temperature 0 -max_tokens 1 -logit_bias [list $token -Inf]] ne $greedy}
    check {[[[box] session] generate A -temperature 0 -stop_tokens $token -report report] eq ""}
    check {[dict get $report reason] eq "stop"}
    check {[[[box] session] generate A -max_tokens 1 -seed 18446744073709551614 -report report] ne ""}
    check {[dict get $report seed] == 18446744073709551614}
    set tokens [[box] tokenize A]
    check {[[[box] session] generate "" -prompt_tokens $tokens -seed 1 -max_tokens 5] eq [text -max_tokens 5]}
}

it package_refused_options_are_named {
    foreach {name wrong} {
        typical_p {text -typical_p 2}
        logit_bias {text -logit_bias {5 1.0 -1 1.0}}
        keep_tokens {[box] session -when_full shift -keep_tokens -1}
    } {
        check {[failure $wrong] eq "INVALID_ARGUMENT"}
        check {[string match "$name*" $::failure]}
    }
}

it package_saved_in_memory {
    set session [[box] session]
    $session append "Once upon a time"
    $session decode
    set restored [runcible::Session restore_memory [box] [$session save_memory]]
    check {[$restored tokens] eq [$session tokens]}
    $session append_tokens 5
    check {[$restored position] == [$session position] - 1}
    check {[[$session migrate [box]] tokens] eq [$session tokens]}
    $session truncate 2
    check {[$session position] == 2}
}

it package_errors {
    try {
        runcible::Backend new nosuch
    } trap {RUNCIBLE NOT_FOUND} {message options} {
        check {[string first nosuch $message] >= 0}
        check {[dict get $options -errorcode] \
            eq {RUNCIBLE NOT_FOUND -3 POSIX ENOENT {no such file or directory}}}
    }
}

it package_tensors {
    set x [tensor {1 -2 3 -4 5 -6} -shape {2 3}]
    check {[$x shape] eq {2 3} && [$x size] == 6 && [$x dtype] eq "f32"}
    check {[[$x add $x] read] eq {2.0 -4.0 6.0 -8.0 10.0 -12.0}}
    check {[[$x mul $x] read] eq {1.0 4.0 9.0 16.0 25.0 36.0}}
    check {[[$x relu] read] eq {1.0 0.0 3.0 0.0 5.0 0.0}}
    check {[[$x sum] read] eq {-3.0}}
    check {[[$x max 1] read] eq {3.0 5.0}}
    check {[[$x argmax 1 1] read] eq {2 1} && [[$x argmax 1 1] shape] eq {2 1}}
    check {[[$x transpose] read] eq {1.0 -4.0 -2.0 5.0 3.0 -6.0}}
    check {[[$x reshape {3 -1}] shape] eq {3 2}}
    check {[[$x slice 1 0 3 2] read] eq {1.0 3.0 -4.0 -6.0}}
    check {[[$x matmul_transposed $x] read] eq {14.0 -32.0 -32.0 77.0}}
    check {[[$x gather_rows [tensor {1 0} -dtype i32]] read] eq {-4.0 5.0 -6.0 1.0 -2.0 3.0}}
    check {[[[tensor {0 0}] softmax] read] eq {0.5 0.5}}
    check {[[[tensor {3 4}] rms_norm] size] == 2}
    check {[[$x fused_linear [tensor {1 1 1} -shape {1 3}] "" relu] read] eq {2.0 0.0}}
    set image [runcible::Tensor ones {1 1 3 3} $::backend]
    set window [runcible::Tensor ones {1 1 2 2} $::backend]
    check {[[$image conv2d $window] read] eq {4.0 4.0 4.0 4.0}}
    check {[[$image conv2d $window -stride {2 2} -padding {1 1}] read] eq {1.0 2.0 2.0 4.0}}
    set heads [runcible::Tensor random {2 1 4} $::backend -seed 3]
    check {[[$heads attention $heads $heads -causal 1] shape] eq {2 1 4}}
    set turned [$heads rope [tensor {0 1} -dtype i32] -style halves]
    check {[lrange [$turned read] 0 3] eq [lrange [$heads read] 0 3]}
}

it package_tensors_of_other_types {
    set packed [tensor [lrepeat 32 1] -shape {1 32} -dtype q8_0]
    check {[$packed dtype] eq "q8_0" && [string length [$packed bytes]] == 34}
    set again [runcible::Tensor from_bytes [$packed bytes] {1 32} q8_0 $::backend]
    foreach number [$again read] {check {abs($number - 1) < 0.01}}
    check {[[tensor {1 2.5} -dtype f16] read] eq {1.0 2.5}}
    check {[[tensor {1 -2 9223372036854775807} -dtype i64] read] eq {1 -2 9223372036854775807}}
    check {[[runcible::Tensor zeros {300} $::backend f64] size] == 300}
}

it package_examples {
    set folder [file join [file dirname $::folder] examples]
    foreach {name expected} {story "Once upon a time*" stories "A *---*A *---*ticks*"
                           silu_gate "-1.5379\n0.0000\n2.4621\n2.8808"} {
        set output [exec timeout 900 [info nameofexecutable] [file join $folder $name.tcl] 2>@1]
        check {[string match $expected $output]}
    }
}

it package_the_program_of_the_readme_that_chats {
    set file [open [file join [file dirname $::folder] README.md]]
    chan configure $file -encoding utf-8
    set readme [read $file]
    close $file
    set fence [string repeat ` 3]
    check {[regexp "<!-- tests: chat -->\n${fence}tcl\n(.*?)$fence" $readme - program]}
    set output [exec timeout 900 [info nameofexecutable] << $program 2>@1]
    check {$output eq "Who will not let go is held.\nIn it there is a bear and a bee."}
}
