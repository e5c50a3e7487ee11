package runcible_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"runcible"
)

const skyText = `{"type": "object", "required": ["clouds", "sky"], "properties":
	{"clouds": {"type": "integer", "const": 2}, "sky": {"const": "gréy"}}}`

type constant struct {
	Type  string `json:"type"`
	Const any    `json:"const"`
}

type skySchema struct {
	Type       string              `json:"type"`
	Required   []string            `json:"required"`
	Properties map[string]constant `json:"properties"`
}

// marshaled encodes itself, as schemas of libraries do.
type marshaled struct{}

func (marshaled) MarshalJSON() ([]byte, error) { return []byte(skyText), nil }

func skySchemas() map[string]any {
	return map[string]any{
		"text": skyText, "bytes": []byte(skyText), "raw": json.RawMessage(skyText),
		"marshaler": marshaled{},
		"struct": skySchema{"object", []string{"clouds", "sky"},
			map[string]constant{"clouds": {"integer", 2}, "sky": {"string", "gréy"}}},
		"map": map[string]any{"type": "object", "required": []string{"clouds", "sky"},
			"properties": map[string]any{"clouds": constant{"integer", 2}, "sky": constant{"string", "gréy"}}},
	}
}

func checkSky(t *testing.T, text string) {
	t.Helper()
	var made struct {
		Clouds int
		Sky    string
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.Clouds != 2 || made.Sky != "gréy" {
		t.Error(text, err)
	}
}

func jsonChat(t *testing.T) (*runcible.Model, *runcible.Chat) {
	t.Helper()
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := runcible.LoadModel(context.Background(), "builtin:fable", backend, runcible.ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	session, err := model.NewSession(runcible.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	chat, err := session.NewChat(runcible.ChatOptions{TemplateName: "zephyr"})
	if err != nil {
		t.Fatal(err)
	}
	return model, chat
}

func TestSchemasAsObjects(t *testing.T) {
	for name, schema := range skySchemas() {
		t.Run(name, func(t *testing.T) {
			model, chat := jsonChat(t)
			tokenizer, err := model.Tokenizer()
			if err != nil {
				t.Fatal(err)
			}
			grammar, err := runcible.NewSchemaGrammar(tokenizer, schema, runcible.GrammarOptions{})
			if err != nil {
				t.Fatal(err)
			}
			reply, err := chat.Ask(context.Background(), "How is it?", runcible.WithGrammar(grammar))
			if err != nil {
				t.Fatal(err)
			}
			checkSky(t, reply.Text)
			inner := schema
			if name == "text" || name == "bytes" {
				inner = json.RawMessage(skyText)
			}
			reply, err = chat.Ask(context.Background(), "And now?", runcible.ResponseFormat(map[string]any{
				"type": "json_schema", "json_schema": map[string]any{"name": "sky", "schema": inner}}))
			if err != nil {
				t.Fatal(err)
			}
			checkSky(t, reply.Text)
		})
	}
}

func TestMessagesAsObjects(t *testing.T) {
	_, chat := jsonChat(t)
	type said struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	for _, each := range []any{said{"user", "a"}, []said{{"assistant", "b"}}, `{"role": "user", "content": "c"}`} {
		if err := chat.AddJSON(each); err != nil {
			t.Fatal(err)
		}
	}
	found, err := chat.Messages()
	if err != nil || len(found) != 3 || found[1]["content"] != "b" || found[2]["content"] != "c" {
		t.Error(found, err)
	}
}

func TestErrorsNameTheArgument(t *testing.T) {
	model, chat := jsonChat(t)
	tokenizer, err := model.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, runcible.ErrInvalidArgument) || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	for _, bad := range []any{func() {}, make(chan int), map[bool]int{true: 1}} {
		_, err := chat.Ask(context.Background(), "a", runcible.ResponseFormat(bad))
		named("ResponseFormat", err)
		_, err = chat.Ask(context.Background(), "a", runcible.ToolChoice([]any{bad}))
		named("ToolChoice", err)
		_, err = runcible.NewSchemaGrammar(tokenizer, bad, runcible.GrammarOptions{})
		named("schema", err)
		named("messages", chat.AddJSON(bad))
		session, err := model.NewSession(runcible.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = session.NewChat(runcible.ChatOptions{TemplateName: "zephyr", Tools: bad})
		named("Tools", err)
	}
}
