package runcible_test

// The steps of conversations and grammars.

import (
	"encoding/json"
	"fmt"
	"reflect"

	"runcible"
)

func newGrammar(r *runner, s step) error {
	tokenizer, err := r.model(s).Tokenizer()
	if err != nil {
		return err
	}
	defer tokenizer.Close()
	var grammar *runcible.Grammar
	switch s.text("kind") {
	case "json_schema":
		var options runcible.GrammarOptions
		if given := s.options("options"); given != nil {
			options.MaxSpaces = int32(given["max_spaces"].(float64))
			options.MaxDepth = int32(given["max_depth"].(float64))
			options.Open = int32(given["open"].(float64))
		}
		grammar, err = runcible.NewSchemaGrammar(tokenizer, s["schema"], options)
	case "regex":
		grammar, err = runcible.NewRegexGrammar(tokenizer, s.text("text"))
	case "gbnf":
		grammar, err = runcible.NewGBNFGrammar(tokenizer, s.text("text"))
	case "lark":
		grammar, err = runcible.NewLarkGrammar(tokenizer, s.text("text"))
	case "choices":
		var choices []string
		for _, each := range s["choices"].([]any) {
			choices = append(choices, each.(string))
		}
		grammar, err = runcible.NewChoicesGrammar(tokenizer, choices...)
	}
	if err == nil {
		r.set(s.text("as"), grammar)
	}
	return err
}

func (r *runner) chat(s step) *runcible.Chat { return r.get(s.text("chat")).(*runcible.Chat) }

func newChat(r *runner, s step) error {
	var options runcible.ChatOptions
	for name, value := range s.options("options") {
		switch name {
		case "template_name":
			options.TemplateName = value.(string)
		case "template_text":
			options.TemplateText = value.(string)
		case "template_arguments":
			options.TemplateArguments = value.(map[string]any)
		case "thinking":
			thinking := value.(bool)
			options.Thinking = &thinking
		case "now":
			options.Now = value.(string)
		case "tools":
			options.Tools = value
		default:
			return fmt.Errorf("the option %s is not known", name)
		}
	}
	chat, err := r.session(s).NewChat(options)
	if err == nil {
		r.set(s.text("as"), chat)
	}
	return err
}

func addMessages(r *runner, s step) error {
	var messages []runcible.Message
	for _, each := range s["messages"].([]any) {
		messages = append(messages, each.(map[string]any))
	}
	return r.chat(s).Add(messages...)
}

func undo(r *runner, s step) error {
	return r.chat(s).Undo(int(s.number("count")))
}

func messages(r *runner, s step) error {
	messages, err := r.chat(s).Messages()
	if err != nil {
		return err
	}
	return sameJSON(messages, s["expect"])
}

// sameJSON compares what becomes of values in JSON.
func sameJSON(found, expected any) error {
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return err
	}
	if !reflect.DeepEqual(plain, expected) {
		return fmt.Errorf("found %s", text)
	}
	return nil
}

func forkChat(r *runner, s step) error {
	chat, err := r.chat(s).Fork()
	if err == nil {
		r.set(s.text("as"), chat)
	}
	return err
}

func answer(r *runner, s step) error {
	ctx, cancel, options, err := generateOptions(r, s)
	defer cancel()
	if err != nil {
		return err
	}
	answer, err := r.chat(s).Answer(ctx, options...)
	if err != nil {
		return err
	}
	reply := &runcible.Reply{}
	for part := range answer.Parts() {
		switch part := part.(type) {
		case runcible.ToolCall:
			reply.ToolCalls = append(reply.ToolCalls, part)
		case runcible.Reasoning:
			reply.Reasoning += part.Text
		case runcible.Piece:
			reply.Text += part.Text
		}
	}
	reply.Report = answer.Report()
	return checkReply(s, reply, answer.Err())
}

func ask(r *runner, s step) error {
	ctx, cancel, options, err := generateOptions(r, s)
	defer cancel()
	if err != nil {
		return err
	}
	reply, err := r.chat(s).Ask(ctx, s.text("text"), options...)
	return checkReply(s, reply, err)
}

func checkReply(s step, reply *runcible.Reply, err error) error {
	if err != nil {
		return err
	}
	if reason := reply.Report.Reason.String(); reason != s["reason"] {
		return fmt.Errorf("ended by %s", reason)
	}
	calls := []any{}
	for _, each := range reply.ToolCalls {
		calls = append(calls, map[string]any{
			"id": each.ID, "name": each.Name, "arguments": each.Arguments})
	}
	return sameJSON(map[string]any{
		"text": reply.Text, "reasoning": reply.Reasoning, "calls": calls}, s["expect"])
}
