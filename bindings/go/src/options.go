package runcible

import "runcible/internal/native"

// GenerateOption is an option of Session.Generate. Options that are not given
// have the defaults of the library. A token is chosen in this order: logit bias,
// penalties, then greedy if the temperature is 0, else top-k, typical, top-p,
// min-p, temperature, and a draw. The same seed, options and logits give the same
// token on every platform. Deadlines come from the context.
type GenerateOption func(native.Generate_options) error

// PromptTokens are appended to the session first, in place of a text.
func PromptTokens(tokens []int32) GenerateOption {
	return func(o native.Generate_options) error {
		return o.Set_prompt_tokens(tokens)
	}
}

// PromptFlags describe how the prompt is tokenized (default: AddSpecial, which
// has an effect only in an empty session).
func PromptFlags(flags TokenizeFlags) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetTokenize_flags(uint32(flags))
		return nil
	}
}

// LogitBias is added to the logit of a token; minus infinity forbids the token.
func LogitBias(token int32, bias float32) GenerateOption {
	return func(o native.Generate_options) error {
		return o.Add_logit_bias(token, bias)
	}
}

// Stop sets texts that end the generated text and are not part of it.
func Stop(texts ...string) GenerateOption {
	return func(o native.Generate_options) error {
		for _, text := range texts {
			name, err := makeName("a stop string", text)
			if err != nil {
				return err
			}
			if err := o.Add_stop(name); err != nil {
				return err
			}
		}
		return nil
	}
}

// StopTokens end the text as the model's own end token does.
func StopTokens(tokens ...int32) GenerateOption {
	return func(o native.Generate_options) error {
		return o.Set_stop_tokens(tokens)
	}
}
