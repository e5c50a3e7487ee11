# Tests of the package in addition to the cases of all languages.

set ::backend [runcible::Backend new cpu]

proc tensor {numbers args} {
    return [runcible::Tensor new $numbers $::backend {*}$args]
}

it package_tokenizes_all_characters {
    foreach text [list "Gr\u00fc\u00dfe" "a\u0000b" "\ud83d\ude00 x" "\u4f60\u597d"] {
        set tokens [[box] tokenize $text -add_special 0]
        check {[[box] detokenize $tokens] eq $text}
    }
    # A smile has four bytes in UTF-8, and two characters in Tcl 8.6.
    check {[[box] tokenize "\ud83d\ude00" -add_special 0]
        eq [[box] tokenize [encoding convertfrom utf-8 "\xf0\x9f\x98\x80"] -add_special 0]}
}

it package_load_reports_progress {
    set ::fractions {}
    [runcible::Model new builtin:fable -backend reference -progress {lappend ::fractions}] destroy
    check {[lindex $::fractions end] == 1}
    check {$::fractions eq [lsort -real $::fractions]}
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

it package_seeds_have_64_bits {
    check {[[[box] session] generate A -max_tokens 1 -seed 18446744073709551614 -report report] ne ""}
    check {[dict get $report seed] == 18446744073709551614}
}

it package_errors_have_codes {
    try {
        runcible::Backend new nosuch
    } trap {RUNCIBLE NOT_FOUND} {message options} {
        check {[string first nosuch $message] >= 0}
        check {[dict get $options -errorcode] \
            eq {RUNCIBLE NOT_FOUND -3 POSIX ENOENT {no such file or directory}}}
    }
}

it package_tensor_ops_give_expected_numbers {
    set x [tensor {1 -2 3 -4 5 -6} -shape {2 3}]
    check {[$x size] == 6}
    check {[[$x transpose] read] eq {1.0 -4.0 -2.0 5.0 3.0 -6.0}}
}

it package_tensors_store_other_types {
    set packed [tensor [lrepeat 32 1] -shape {1 32} -dtype q8_0]
    check {[$packed dtype] eq "q8_0" && [string length [$packed bytes]] == 34}
    set again [runcible::Tensor from_bytes [$packed bytes] {1 32} q8_0 $::backend]
    foreach number [$again read] {check {abs($number - 1) < 0.01}}
    check {[[tensor {1 -2 9223372036854775807} -dtype i64] read] eq {1 -2 9223372036854775807}}
    check {[[runcible::Tensor zeros {300} $::backend f64] size] == 300}
}

it package_examples_print_their_output {
    set folder [file join [file dirname $::folder] examples]
    foreach {name expected} {story "Once upon a time*" stories "A *---*A *---*ticks*"
                           silu_gate "-1.5379\n0.0000\n2.4621\n2.8808"} {
        set output [exec timeout 900 [info nameofexecutable] [file join $folder $name.tcl] 2>@1]
        check {[string match $expected $output]}
    }
}

it package_chat_program_of_the_readme_prints_its_output {
    set file [open [file join [file dirname $::folder] README.md]]
    chan configure $file -encoding utf-8
    set readme [read $file]
    close $file
    set fence [string repeat ` 3]
    check {[regexp "<!-- tests: chat -->\n${fence}tcl\n(.*?)$fence" $readme - program]}
    set output [exec timeout 900 [info nameofexecutable] << $program 2>@1]
    check {$output eq "Who will not let go is held.\nIn it there is a bear and a bee."}
}
