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

// UserMessage is what the user says.
func UserMessage(text string) Message {
	return Message{"role": "user", "content": text}
}

// ToolMessage is the result of a call of a tool.
func ToolMessage(call ToolCall, result string) Message {
	return Message{"role": "tool", "tool_call_id": call.ID, "content": result}
}

// ChatOptions tell how a conversation is written down. The zero value has the
// defaults of the library.
type ChatOptions struct {
	// The functions that the model may call, in the shape of "tools" of OpenAI's
	// chat completions.
	// A list of objects, whatever encoding/json makes JSON of, or JSON.
	Tools any
	// The name of a chat template: of a variant in the file, or of one that is
	// well known, for files that have none ("chatml", "llama3", "zephyr", ...).
	TemplateName string
	// The source of a chat template instead.
	TemplateText string
	// More variables for the template: an object, or JSON.
	TemplateArguments any
	// For models that can do both: whether to think before they answer; nil:
	// whatever the template does by itself.
	Thinking *bool
	// What templates that write the date take for the present: "2024-07-26" or
	// "2024-07-26T14:05:09"; "": the system's clock and time zone.
	Now string
}

// Chat is a conversation: a list of messages over a session.
//
// An answer of the model becomes one of the messages. For each answer only what
// the session does not hold yet is evaluated, also after messages were forgotten.
// To keep a conversation, keep its session (Session.Save) and its messages.
type Chat struct {
	handle  *handle[native.Chat]
	reading *sync.Mutex // of the session's logits
}

// NewChat begins a conversation without messages. ErrInvalidArgument: an option;
// ErrNotFound: no such template, or the file has none; ErrUnsupported: the model
// has no tokenizer; ErrFormat: a mistake of the template.
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

// setJSON does nothing for what is nil, or a slice or a map that is.
func setJSON(what string, value any, set func(native.Name) error) error {
	text, err := toJSON(what, value)
	if err != nil || text == "null" {
		return err
	}
	return setText(what, text, set)
}

// setText does nothing for "".
func setText(what, text string, set func(native.Name) error) error {
	if text == "" {
		return nil
	}
	name, err := makeName(what, text)
	if err != nil {
		return err
	}
	return set(name)
}

// AddJSON adds messages as Add does: JSON of one or of a list, or values that
// encoding/json makes that of.
func (c *Chat) AddJSON(messages any) error {
	text, err := toJSON("messages", messages)
	if err != nil {
		return err
	}
	return c.with(func(chat native.Chat) error {
		return native.Chat_add(chat, text)
	})
}

// Add adds messages. ErrInvalidArgument, ErrUnsupported: one that is malformed,
// by its place; nothing was added then. ErrBusy: an answer is under way.
func (c *Chat) Add(messages ...Message) error {
	return c.AddJSON(append([]Message{}, messages...))
}

// Undo forgets messages.
//
//runcible:doc rc_chat_undo
func (c *Chat) Undo(count int) error {
	return c.with(func(chat native.Chat) error {
		return native.Chat_undo(chat, int64(count))
	})
}

// Messages are all messages. ErrBusy: an answer is under way.
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

// Part is what an answer consists of: a Piece of text, Reasoning or a ToolCall.
type Part interface{ part() }

// Reasoning is text of what the model thinks before it answers.
type Reasoning Piece

// ToolCall is a call of a tool, as a whole.
type ToolCall struct {
	ID        string // which its result names; see ToolMessage
	Name      string
	Arguments json.RawMessage // an object
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

// Answer is what a model answers. Its parts come from Next, from Parts, from All,
// or from Reply, each to one reader; it ends as a Generation does. Whatever came
// of it is a message of the conversation then.
type Answer struct {
	reading[Part]
}

// Reply is a whole answer.
type Reply struct {
	Text      string
	Reasoning string // what the model thought
	ToolCalls []ToolCall
	Report    *Report // its Reason is EndToolCalls after some
}

// Answer lets the model answer. It returns at once: what the template refuses is an
// error of the answer. The options are those of Session.Generate but for the prompt.
// Unlike a generation it does not wait for one that is under way: that is ErrBusy.
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

// Ask adds what the user says, and waits for the whole answer, which is given
// beside an error as far as it came.
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

// Parts gives the parts by a channel, which is closed at the end; see
// Generation.Pieces.
func (a *Answer) Parts() <-chan Part {
	return a.channel()
}

// Reply waits for the end, and gives all that was not yet read, also beside an
// error.
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
