/* Converts between values of C and of C#; included by the wrapper alone. */
#ifndef RUNCIBLE_CSHARP_VALUES_H
#define RUNCIBLE_CSHARP_VALUES_H

#include <runcible/runcible.h>

#define RUNCIBLE_NAMES_PASCAL
#include "mailbox.h"
#include "own_words.h"
#include "retry_after.h"

#if defined(__GNUC__)
#define RUNCIBLE_EXPORT __attribute__((visibility("default")))
#else
#define RUNCIBLE_EXPORT
#endif

/* A function of C# that notes the exception of a status on the calling thread.
 * C# sets it before it calls anything else. */
typedef void (*runcible_note_callback)(int32_t status, const char* message,
                                       int64_t retry_after);
static runcible_note_callback runcible_note;

RUNCIBLE_EXPORT void runcible_watch(runcible_note_callback callback) {
  runcible_note = callback;
}

static void runcible_raise(rc_status status, const char* message) {
  runcible_note(status, message, runcible_retry_after(status));
}

/* An event with the same layout on all machines; Event.Raw in C# has the same
 * members. */
typedef struct {
  uint64_t key;
  int64_t type; /* rc_event_type; -1: none */
  const char* text;
  uint64_t text_length;
  const int32_t* tokens;
  uint64_t token_count;
  const float* logprobs;
  const int32_t* top_tokens;
  const float* top_logprobs;
  uint64_t top_count;
  const char* call_name;
  const char* call_id;
  const char* message;
  int64_t status;
  int64_t reason;
  uint64_t seed;
#define RUNCIBLE_MEMBER(NAME) int64_t NAME;
  RUNCIBLE_END_NUMBERS(RUNCIBLE_MEMBER)
#undef RUNCIBLE_MEMBER
} runcible_event;

static void runcible_read_event(const rc_event* event, runcible_event* raw) {
  const rc_generate_report* report = event->report;
  memset(raw, 0, sizeof(*raw));
  raw->type = event->type;
  raw->text = event->text;
  raw->text_length = event->text_length;
  raw->tokens = event->tokens;
  raw->token_count = event->token_count;
  raw->logprobs = event->logprobs;
  raw->top_tokens = event->top_tokens;
  raw->top_logprobs = event->top_logprobs;
  raw->top_count = event->top_count;
  raw->call_name = event->call_name;
  raw->call_id = event->call_id;
  if (event->type != RC_EVENT_END) return;
  raw->message = runcible_own_words(event->message);
  raw->status = report->status;
  raw->reason = report->reason;
  raw->seed = report->seed;
#define RUNCIBLE_COPY(NAME) raw->NAME = report->NAME;
  RUNCIBLE_END_NUMBERS(RUNCIBLE_COPY)
#undef RUNCIBLE_COPY
}

/* A value of a custom op; CustomValue.Raw in C# has the same members. */
typedef struct {
  const void* data;
  uint64_t bytes;
  int64_t dtype;
  int64_t rank;
  int64_t shape[RC_TENSOR_MAX_RANK];
} runcible_custom_value;

#endif /* RUNCIBLE_CSHARP_VALUES_H */
