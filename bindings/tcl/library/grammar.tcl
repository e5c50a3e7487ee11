# Grammars, which describe the texts that may be generated; see
# runcible/grammar.h. A grammar is passed to a generation, or an answer, as the
# option -grammar.

oo::class create ::runcible::Grammar {
    superclass ::runcible::Handle
    variable handle

    # Makes a grammar for a Tokenizer, or for a Model's own tokenizer. KIND and
    # TEXT are json_schema and a schema, a dict or JSON; regex and an expression
    # in the syntax of JavaScript; gbnf and rules in llama.cpp's GBNF, in which
    # the text is a root; lark and rules in Lark's syntax, in which it is a start;
    # choices and a list of texts. Options of json_schema:
    # :api: members rc_grammar_options
    constructor {tokenizer kind text args} {
        set handle [::runcible::MakeGrammar [::runcible::TokenizerOf $tokenizer] \
            $kind $text [::runcible::Pairs $args]]
    }
}

# Returns the handle of a Tokenizer, or of a Model's own tokenizer.
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
