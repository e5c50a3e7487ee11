package runcible

import "runcible/internal/native"

// Tokenizer converts text to tokens, and tokens to text.
//
//runcible:doc rc_tokenizer
type Tokenizer struct {
	handle *handle[native.Tokenizer]
}

// TokenizeFlags describe how special tokens are treated.
type TokenizeFlags uint32

const (
	//runcible:doc RC_TOKENIZE_ADD_SPECIAL
	AddSpecial TokenizeFlags = 1
	//runcible:doc RC_TOKENIZE_PARSE_SPECIAL
	ParseSpecial TokenizeFlags = 2
)

// OpenTokenizer opens the tokenizer that a file describes.
//
//runcible:doc rc_tokenizer_open
func OpenTokenizer(path string) (*Tokenizer, error) {
	if abiError != nil {
		return nil, abiError
	}
	name, err := makeName("the path", path)
	if err != nil {
		return nil, err
	}
	var pointer uintptr
	if err := native.Tokenizer_open(name, &pointer); err != nil {
		return nil, err
	}
	return newTokenizer(pointer), nil
}

func newTokenizer(pointer uintptr) *Tokenizer {
	return &Tokenizer{newHandle[native.Tokenizer]("Tokenizer",
		native.SwigcptrTokenizer(pointer), native.DeleteTokenizer)}
}

// Tokenize converts text to tokens.
//
//runcible:doc rc_tokenize
func (t *Tokenizer) Tokenize(text string, flags TokenizeFlags) ([]int32, error) {
	tokenizer, err := t.use()
	if err != nil {
		return nil, err
	}
	defer t.handle.done()
	var tokens native.Memory
	if err := native.Tokenize(tokenizer, text, uint32(flags), &tokens); err != nil {
		return nil, err
	}
	return tokens.TakeTokens(), nil
}

// Detokenize converts tokens to text.
//
//runcible:doc rc_detokenize
func (t *Tokenizer) Detokenize(tokens []int32, special bool) (string, error) {
	tokenizer, err := t.use()
	if err != nil {
		return "", err
	}
	defer t.handle.done()
	var text native.Memory
	if err := native.Detokenize(tokenizer, tokens, flag(special), &text); err != nil {
		return "", err
	}
	return text.TakeText(), nil
}
