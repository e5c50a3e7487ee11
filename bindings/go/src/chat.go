package runcible

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"runcible/internal/native"
)

// Message is a message of a conversation, in the shape of "messages" of OpenAI's
// chat completions.
type Message map[string]any

// UserMessage makes a message of the user.
func UserMessage(text string) Message {
	return Message{"role": "user", "content": text}
}

// ToolMessage makes the message with the result of a tool call.
func ToolMessage(call ToolCall, result string) Message {
	return Message{"role": "tool", "tool_call_id": call.ID, "content": result}
}

// ChatOptions describe how a conversation is formatted. The zero value has the
// defaults of the library.
type ChatOptions struct {
	// The functions that the model may call, in the shape of "tools" of OpenAI's
	// chat completions: a list of objects, any value that encoding/json encodes, or
	// JSON.
	Tools any
	// The name of a chat template: a variant in the file, or a well-known template
	// for files that have none ("chatml", "llama3", "zephyr", ...).
	TemplateName string
	// The source of a chat template; replaces TemplateName.
	TemplateText string
	// More variables for the template: an object, or JSON.
	TemplateArguments any
	// Whether models that can do both think before they answer; nil: the default of
	// the template.
	Thinking *bool
	// The time that templates which write the date use as the present: "2024-07-26"
	// or "2024-07-26T14:05:09"; "": the system's clock and time zone.
	Now string
}

// Chat is a conversation: a list of messages over a session.
//
// An answer of the model becomes one of the messages. Each answer evaluates only
// what the session does not hold yet, also after messages were removed. To save a
// conversation, save its session (Session.Save) and its messages.
type Chat struct {
	handle  *handle[native.Chat]
	reading *sync.Mutex // of the session's logits
}

// NewChat begins a conversation without messages. It returns ErrInvalidArgument
// for an invalid option, ErrNotFound if there is no such template or the file has
// none, ErrUnsupported if the model has no tokenizer, and ErrFormat for an error
// in the template.
func (s *Session) NewChat(options ChatOptions) (chat *Chat, err error) {
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteChat_options(o)
	err = s.with(func(session native.Session) error {
		var pointer uintptr
		if err := native.Chat_create(session, o, &pointer); err != nil {
			return err
		}
		chat = ownChat(pointer, &s.reading)
		return nil
	})
	return chat, err
}

func ownChat(pointer uintptr, reading *sync.Mutex) *Chat {
	return &Chat{newHandle[native.Chat]("Chat", native.SwigcptrChat(pointer),
		native.DeleteChat), reading}
}

func (options *ChatOptions) native() (native.Chat_options, error) {
	o := native.NewChat_options()
	if err := made(o); err != nil {
		return nil, err
	}
	if err := options.set(o); err != nil {
		native.DeleteChat_options(o)
		return nil, err
	}
	return o, nil
}

func (options *ChatOptions) set(o native.Chat_options) error {
	texts := []struct {
		what, text string
		set        func(native.Name) error
	}{
		{"TemplateName", options.TemplateName, o.Set_template_name},
		{"TemplateText", options.TemplateText, o.Set_template_text},
		{"Now", options.Now, o.Set_now},
	}
	for _, each := range texts {
		if err := setText(each.what, each.text, each.set); err != nil {
			return err
		}
	}
	if options.Thinking != nil {
		o.SetThinking(flag(*options.Thinking))
	}
	if err := setJSON("Tools", options.Tools, o.Set_tools); err != nil {
		return err
	}
	return setJSON("TemplateArguments", options.TemplateArguments,
		o.Set_template_arguments)
}

// setJSON does nothing for nil, and for a nil slice or map.
func setJSON(what string, value any, set func(native.Name) error) error {
	text, err := toJSON(what, value)
	if err != nil || text == "null" {
		return err
	}
	return setText(what, text, set)
}

// AddJSON adds messages as Add does: JSON of one message or of a list, or values
// that encoding/json encodes as such JSON.
func (c *Chat) AddJSON(messages any) error {
	text, err := toJSON("messages", messages)
	if err != nil {
		return err
	}
	return c.with(func(chat native.Chat) error {
		return native.Chat_add(chat, text)
	})
}

// Add adds messages. It returns ErrInvalidArgument or ErrUnsupported if a message
// is malformed, with its position; no message was added then. ErrBusy: an answer
// is in progress.
func (c *Chat) Add(messages ...Message) error {
	return c.AddJSON(append([]Message{}, messages...))
}

// Undo removes messages.
//
//runcible:doc rc_chat_undo
func (c *Chat) Undo(count int) error {
	return c.with(func(chat native.Chat) error {
		return native.Chat_undo(chat, int64(count))
	})
}

// Messages returns all messages. ErrBusy: an answer is in progress.
func (c *Chat) Messages() (messages []Message, err error) {
	err = c.with(func(chat native.Chat) error {
		var text native.Memory
		if err := native.Chat_messages(chat, &text); err != nil {
			return err
		}
		return json.Unmarshal(text.TakeBytes(), &messages)
	})
	return messages, err
}

// Fork makes another conversation.
//
//runcible:doc rc_chat_fork
func (c *Chat) Fork() (fork *Chat, err error) {
	err = c.with(func(chat native.Chat) error {
		var pointer uintptr
		if err := native.Chat_fork(chat, &pointer); err != nil {
			return err
		}
		fork = ownChat(pointer, &sync.Mutex{})
		return nil
	})
	return fork, err
}

// Part is one part of an answer: a Piece of text, Reasoning or a ToolCall.
type Part interface{ part() }

// Reasoning is text that the model thinks before it answers.
type Reasoning Piece

// ToolCall is a complete call of a tool.
type ToolCall struct {
	ID        string // the result names it; see ToolMessage
	Name      string
	Arguments json.RawMessage // a JSON object
}

func (Piece) part()     {}
func (Reasoning) part() {}
func (ToolCall) part()  {}

func partOf(event *native.Event) Part {
	switch event.Kind {
	case native.CallEvent:
		return ToolCall{event.CallID, event.CallName, json.RawMessage(event.Text)}
	case native.ReasoningEvent:
		return Reasoning(pieceOf(event))
	default:
		return pieceOf(event)
	}
}

// Answer is an answer of a model. Its parts are read with Next, Parts, All or
// Reply, and each part goes to one reader. An Answer ends as a Generation does;
// the answer as far as it came is a message of the conversation then.
type Answer struct {
	reading[Part]
}

// Reply is a whole answer.
type Reply struct {
	Text      string
	Reasoning string // the text that the model thought
	ToolCalls []ToolCall
	Report    *Report // its Reason is EndToolCalls if there are tool calls
}

// Answer lets the model answer. It returns at once: if the template refuses the
// messages, the answer ends with that error. The options are those of
// Session.Generate except the prompt. Unlike Generate, Answer does not wait for a
// generation in progress, and returns ErrBusy instead.
func (c *Chat) Answer(ctx context.Context, options ...GenerateOption) (*Answer, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	o, timed, err := generateOptions(ctx, options)
	if err != nil {
		return nil, err
	}
	defer native.DeleteGenerate_options(o)
	a := &Answer{}
	err = c.with(func(chat native.Chat) error {
		c.reading.Lock()
		defer c.reading.Unlock()
		return a.start(ctx, timed, partOf, func(box native.Mailbox, key uint64, request *uintptr) error {
			return native.Mailbox_answer(box, chat, o, key, request)
		})
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Ask adds a message of the user and waits for the whole answer. If there is an
// error, Ask also returns the answer as far as it came.
func (c *Chat) Ask(ctx context.Context, text string, options ...GenerateOption) (*Reply, error) {
	if err := c.Add(UserMessage(text)); err != nil {
		return nil, err
	}
	answer, err := c.Answer(ctx, options...)
	if err != nil {
		return nil, err
	}
	return answer.Reply()
}

// Parts returns a channel of the parts, which is closed at the end; see
// Generation.Pieces.
func (a *Answer) Parts() <-chan Part {
	return a.channel()
}

// Reply waits for the end and returns all parts that were not yet read, also if
// there is an error.
func (a *Answer) Reply() (*Reply, error) {
	reply := &Reply{}
	for {
		part, err := a.Next()
		if err != nil {
			reply.Report = a.Report()
			if err == io.EOF {
				err = nil
			}
			return reply, err
		}
		switch part := part.(type) {
		case ToolCall:
			reply.ToolCalls = append(reply.ToolCalls, part)
		case Reasoning:
			reply.Reasoning += part.Text
		case Piece:
			reply.Text += part.Text
		}
	}
}
