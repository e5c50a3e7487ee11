package runcible

import "runcible/internal/native"

// GenerateOption is an option of Session.Generate. What is not given has the
// default of the library. The chain of a choice, in this order: logit bias,
// penalties, then greedy if the temperature is 0, else top-k, typical, top-p,
// min-p, temperature, and a draw. The same seed, options and logits give the same
// token on every platform. Times come from the context.
type GenerateOption func(native.Generate_options) error

// PromptTokens are appended to the session first, instead of a text.
func PromptTokens(tokens []int32) GenerateOption {
	return func(o native.Generate_options) error {
		return o.Set_prompt_tokens(tokens)
	}
}

// PromptFlags tell how the prompt is tokenized, AddSpecial if not given.
//
//runcible:doc rc_generate_options.tokenize_flags
func PromptFlags(flags TokenizeFlags) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetTokenize_flags(uint32(flags))
		return nil
	}
}

// Echo delivers the prompt as the first piece.
func Echo() GenerateOption {
	return func(o native.Generate_options) error {
		o.SetEcho(1)
		return nil
	}
}

// MaxTokens tells how many tokens to generate.
//
//runcible:doc rc_generate_options.max_tokens
func MaxTokens(count int64) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetMax_tokens(count)
		return nil
	}
}

// Priority is the rank among requests.
//
//runcible:doc rc_generate_options.priority
func Priority(priority int32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetPriority(priority)
		return nil
	}
}

// Seed of the draws; if not given, one that is taken from the operating system.
func Seed(seed uint64) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetSeed(seed)
		return nil
	}
}

// Temperature of the draws.
//
//runcible:doc rc_generate_options.temperature
func Temperature(temperature float32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetTemperature(temperature)
		return nil
	}
}

// TopK keeps the most probable tokens.
//
//runcible:doc rc_generate_options.top_k
func TopK(count int32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetTop_k(count)
		return nil
	}
}

// TopP keeps the most probable tokens that have this probability together.
//
//runcible:doc rc_generate_options.top_p
func TopP(probability float32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetTop_p(probability)
		return nil
	}
}

// MinP keeps tokens of at least this part of the greatest probability.
//
//runcible:doc rc_generate_options.min_p
func MinP(part float32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetMin_p(part)
		return nil
	}
}

// TypicalP keeps tokens of typical surprise that have this probability together.
//
//runcible:doc rc_generate_options.typical_p
func TypicalP(probability float32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetTypical_p(probability)
		return nil
	}
}

// PenaltyTokens is how far penalties look back.
//
//runcible:doc rc_generate_options.penalty_tokens
func PenaltyTokens(count int32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetPenalty_tokens(count)
		return nil
	}
}

// RepetitionPenalty divides or multiplies logits of tokens seen; 1 is off.
func RepetitionPenalty(penalty float32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetRepetition_penalty(penalty)
		return nil
	}
}

// PresencePenalty is subtracted once from logits of tokens seen.
func PresencePenalty(penalty float32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetPresence_penalty(penalty)
		return nil
	}
}

// FrequencyPenalty is subtracted from logits for each time a token was seen.
func FrequencyPenalty(penalty float32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetFrequency_penalty(penalty)
		return nil
	}
}

// LogitBias is added to the logit of a token; minus infinity forbids the token.
func LogitBias(token int32, bias float32) GenerateOption {
	return func(o native.Generate_options) error {
		return o.Add_logit_bias(token, bias)
	}
}

// Stop has texts that end the generated one and are not part of it.
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

// IgnoreEOS goes on after the model's end tokens.
//
//runcible:doc rc_generate_options.ignore_eos
func IgnoreEOS() GenerateOption {
	return func(o native.Generate_options) error {
		o.SetIgnore_eos(1)
		return nil
	}
}

// Logprobs asks for logarithms of probabilities.
//
//runcible:doc rc_generate_options.logprobs
func Logprobs(count int32) GenerateOption {
	return func(o native.Generate_options) error {
		o.SetLogprobs(count)
		return nil
	}
}
