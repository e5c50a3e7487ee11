package runcible

import "runcible/internal/native"

// Tokenizer makes tokens of text.
//
//runcible:doc rc_tokenizer
type Tokenizer struct {
	handle *handle[native.Tokenizer]
}

// TokenizeFlags tell how special tokens are treated.
type TokenizeFlags uint32

const (
	//runcible:doc RC_TOKENIZE_ADD_SPECIAL
	AddSpecial TokenizeFlags = 1
	//runcible:doc RC_TOKENIZE_PARSE_SPECIAL
	ParseSpecial TokenizeFlags = 2
)

// OpenTokenizer makes the tokenizer that a file describes.
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

// Close gives the tokenizer back.
func (t *Tokenizer) Close() error {
	t.handle.close()
	return nil
}

// Tokenize makes tokens of text.
//
//runcible:doc rc_tokenize
func (t *Tokenizer) Tokenize(text string, flags TokenizeFlags) ([]int32, error) {
	tokenizer, err := t.handle.use()
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

// Detokenize makes text of tokens.
//
//runcible:doc rc_detokenize
func (t *Tokenizer) Detokenize(tokens []int32, special bool) (string, error) {
	tokenizer, err := t.handle.use()
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

// TokenizerReport describes a tokenizer.
type TokenizerReport struct {
	Kind       string
	Vocabulary int32
	BOS        int32
	EOS        int32
	Unknown    int32
}

// Report describes the tokenizer.
func (t *Tokenizer) Report() (*TokenizerReport, error) {
	tokenizer, err := t.handle.use()
	if err != nil {
		return nil, err
	}
	defer t.handle.done()
	r := native.NewTokenizer_report()
	defer native.DeleteTokenizer_report(r)
	if err := made(r); err != nil {
		return nil, err
	}
	if err := native.Tokenizer_describe(tokenizer, r); err != nil {
		return nil, err
	}
	return &TokenizerReport{
		Kind:       r.GetKind(),
		Vocabulary: r.GetVocabulary(),
		BOS:        r.GetBos(),
		EOS:        r.GetEos(),
		Unknown:    r.GetUnknown(),
	}, nil
}
