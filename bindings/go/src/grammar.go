package runcible

import (
	"encoding/json"

	"runcible/internal/native"
)

// Grammar describes the texts that may be generated; see WithGrammar.
//
//runcible:doc rc_grammar
type Grammar struct {
	handle *handle[native.Grammar]
}

// NewSchemaGrammar makes a grammar of a JSON Schema: JSON as a string or bytes,
// or a value that encoding/json encodes, such as a map or a json.Marshaler.
//
//runcible:doc RC_GRAMMAR_JSON_SCHEMA
func NewSchemaGrammar(tokenizer *Tokenizer, schema any, options GrammarOptions) (*Grammar, error) {
	text, err := toJSON("schema", schema)
	if err != nil {
		return nil, err
	}
	return newGrammar(tokenizer, native.GRAMMAR_JSON_SCHEMA, text, options)
}

// NewRegexGrammar makes a grammar of a regular expression.
//
//runcible:doc RC_GRAMMAR_REGEX
func NewRegexGrammar(tokenizer *Tokenizer, expression string) (*Grammar, error) {
	return newGrammar(tokenizer, native.GRAMMAR_REGEX, expression, GrammarOptions{})
}

// NewGBNFGrammar makes a grammar of rules.
//
//runcible:doc RC_GRAMMAR_GBNF
func NewGBNFGrammar(tokenizer *Tokenizer, rules string) (*Grammar, error) {
	return newGrammar(tokenizer, native.GRAMMAR_GBNF, rules, GrammarOptions{})
}

// NewLarkGrammar makes a grammar of rules and terminals.
//
//runcible:doc RC_GRAMMAR_LARK
func NewLarkGrammar(tokenizer *Tokenizer, rules string) (*Grammar, error) {
	return newGrammar(tokenizer, native.GRAMMAR_LARK, rules, GrammarOptions{})
}

// NewChoicesGrammar makes a grammar of a list of texts; the generated text is one
// of them.
func NewChoicesGrammar(tokenizer *Tokenizer, choices ...string) (*Grammar, error) {
	texts := native.NewText_list()
	if err := made(texts); err != nil {
		return nil, err
	}
	defer native.DeleteText_list(texts)
	for _, choice := range choices {
		name, err := makeName("a choice", choice)
		if err != nil {
			return nil, err
		}
		if err := texts.Add(name); err != nil {
			return nil, err
		}
	}
	return makeGrammar(tokenizer, func(t native.Tokenizer, pointer *uintptr) error {
		return native.Grammar_of_choices(t, texts, pointer)
	})
}

func newGrammar(tokenizer *Tokenizer, kind int, text string, options GrammarOptions) (*Grammar, error) {
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteGrammar_options(o)
	return makeGrammar(tokenizer, func(t native.Tokenizer, pointer *uintptr) error {
		return native.Grammar_create(t, int32(kind), text, o, pointer)
	})
}

func makeGrammar(tokenizer *Tokenizer, create func(native.Tokenizer, *uintptr) error) (*Grammar, error) {
	t, err := tokenizer.use()
	if err != nil {
		return nil, err
	}
	defer tokenizer.handle.done()
	var pointer uintptr
	if err := create(t, &pointer); err != nil {
		return nil, err
	}
	return &Grammar{newHandle[native.Grammar]("Grammar",
		native.SwigcptrGrammar(pointer), native.DeleteGrammar)}, nil
}

// WithGrammar restricts the text that is generated. The grammar may be closed as
// soon as Generate or Answer returned.
func WithGrammar(grammar *Grammar) GenerateOption {
	return func(o native.Generate_options) error {
		return grammar.with(func(g native.Grammar) error {
			o.Set_grammar(g)
			return nil
		})
	}
}

// toJSON returns the JSON of an argument of this name; strings and bytes are JSON
// already.
func toJSON(what string, value any) (string, error) {
	switch given := value.(type) {
	case string:
		_, err := makeName(what, given)
		return given, err
	case []byte:
		_, err := makeName(what, string(given))
		return string(given), err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", newError(ErrInvalidArgument, what+": it does not become JSON: "+err.Error())
	}
	return string(text), nil
}
