# Grammars, which say what a text may be; see runcible/grammar.h. One is given to a
# generation, or an answer, as the option -grammar.

oo::class create ::runcible::Grammar {
    superclass ::runcible::Handle
    variable handle

    # Of a Tokenizer, or of a Model for its own. KIND and TEXT are json_schema and a
    # schema, a dict or JSON; regex and an expression as JavaScript has them; gbnf and rules in
    # llama.cpp's GBNF, of which the text is a root; lark and rules in Lark's syntax,
    # of which it is a start; choices and a list of texts. Options of json_schema:
    # :api: members rc_grammar_options
    constructor {tokenizer kind text args} {
        set handle [::runcible::MakeGrammar [::runcible::TokenizerOf $tokenizer] \
            $kind $text [::runcible::Pairs $args]]
    }
}

# The handle of a Tokenizer, or of a Model's own.
proc ::runcible::TokenizerOf {given} {
    if {[info object isa object $given] && [info object isa typeof $given [namespace current]::Model]} {
        set given [$given tokenizer]
    }
    return [Need $given Tokenizer tokenizer]
}

proc ::runcible::MakeGrammar {tokenizer kind text pairs} {
    if {$kind eq "choices"} {
        RefuseRest $pairs
        set texts [native::new_text_list]
        try {
            foreach choice $text {native::text_list_add $texts $choice}
            return [native::grammar_of_choices $tokenizer $texts]
        } finally {
            native::dispose $texts
        }
    }
    set number [Chosen [Constants GRAMMAR_] "the kind of a grammar" $kind]
    if {$kind ne "json_schema"} {
        RefuseRest $pairs
    } else {
        set text [SchemaJson $text schema]
    }
    return [WithOptions grammar_options $pairs [list apply {{tokenizer kind text options} {
        native::grammar_create $tokenizer $kind $text $options
    } ::runcible} $tokenizer $number $text]]
}
