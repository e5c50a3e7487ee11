package native

/*
#include "mailbox.h"
#include "values.h"
*/
import "C"

import "unsafe"

// Events are the events that Mailbox_take found.
type Events struct {
	c C.kept_events
}

// Event is a copy of an event of the library.
type Event struct {
	Key uint64

	// Fields of a piece, of reasoning, and of a call of a tool.
	Kind        EventKind
	Text        string
	Tokens      []int32
	Logprobs    []float32
	TopTokens   []int32 // [tokens, TopCount]
	TopLogprobs []float32
	TopCount    int

	// Fields of a call.
	CallName, CallID string

	// Fields of an end.
	End     bool
	Message string
	Report  Report
}

// EventKind is the kind of an event with text.
type EventKind int32

const (
	PieceEvent     EventKind = C.RC_EVENT_PIECE
	ReasoningEvent EventKind = C.RC_EVENT_REASONING
	CallEvent      EventKind = C.RC_EVENT_CALL
)

// Report describes how a generation ended.
type Report struct {
	Reason int32
	Status int32
	Seed   uint64
	// :api: end_fields
}

// Take copies all events in their order, and frees them.
func (e *Events) Take() []Event {
	defer C.kept_events_free(&e.c)
	var events []Event
	for kept := e.c.first; kept != nil; kept = kept.next {
		events = append(events, eventOf(kept))
	}
	return events
}

func eventOf(kept *C.kept_event) Event {
	c := &kept.event
	event := Event{Key: uint64(kept.key)}
	if c._type == C.RC_EVENT_END {
		event.End = true
		var message [C.runcible_message_size]C.char
		C.runcible_write_own_words(c.message, &message[0])
		event.Message = C.GoString(&message[0])
		event.Report = Report{
			Reason: int32(c.report.reason),
			Status: int32(c.report.status),
			Seed:   uint64(c.report.seed),
			// :api: end_values
		}
		return event
	}
	event.Kind = EventKind(c._type)
	if event.Kind == CallEvent {
		event.CallName = C.GoString(c.call_name)
		event.CallID = C.GoString(c.call_id)
	}
	event.Text = string(unsafe.Slice((*byte)(unsafe.Pointer(c.text)), c.text_length))
	event.Tokens = tokens(c.tokens, c.token_count)
	if c.logprobs != nil {
		event.TopCount = int(c.top_count)
		event.Logprobs = logprobs(c.logprobs, c.token_count)
		event.TopTokens = tokens(c.top_tokens, c.token_count*c.top_count)
		event.TopLogprobs = logprobs(c.top_logprobs, c.token_count*c.top_count)
	}
	return event
}

func tokens(first *C.int32_t, count C.size_t) []int32 {
	return append([]int32{}, unsafe.Slice((*int32)(unsafe.Pointer(first)), count)...)
}

func logprobs(first *C.float, count C.size_t) []float32 {
	return append([]float32{}, unsafe.Slice((*float32)(unsafe.Pointer(first)), count)...)
}
