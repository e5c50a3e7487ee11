/* A mailbox: requests post their events into it, and the language takes them
 * out when its own event loop finds the mailbox's descriptor readable. Events
 * are copied by callbacks that run within mailbox_take, on the thread that
 * takes; no thread of the library ever sees the language. One on a libuv loop
 * has no descriptor: the loop's thread copies the events as they come, and a
 * function there is told that something waits.
 *
 * Any thread may call any function here at any time, unless told otherwise. */
#ifndef RUNCIBLE_SWIG_MAILBOX_H
#define RUNCIBLE_SWIG_MAILBOX_H

#include <runcible/runcible.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mailbox mailbox;

/* A status; after a failure mailbox_error_message tells what went wrong, as
 * rc_error_message does, until the thread's next call. */
typedef rc_status mailbox_status;
const char* mailbox_error_message(void);

/* The type of an event as the packages tell it, -1 if they do not: a call of a
 * tool is told once, when it is whole, and what became none is text. */
static inline rc_event_type told_event_type(const rc_event* event) {
  switch (event->type) {
    case RC_EVENT_CALL_BEGIN:
    case RC_EVENT_CALL_ARGUMENTS:
      return -1;
    case RC_EVENT_MALFORMED_CALL:
      return RC_EVENT_PIECE;
    default:
      return event->type;
  }
}

/* A copy of an event, and the key of its request. */
typedef struct kept_event {
  uint64_t key;
  rc_event event;
  struct kept_event* next;
} kept_event;

/* The numbers of an rc_generate_report behind `reason` and `seed`, for what
 * each language makes of them: DO(prompt_tokens) and so on, in their order. */
/* :api: end_numbers */

/* Events in the order in which they came. */
typedef struct kept_events {
  kept_event* first;
} kept_events;

/* Statuses and messages of rc_loop_create. */
mailbox_status mailbox_create(mailbox** box);

/* On a libuv loop, to be called on its thread; statuses of rc_loop_uv. `wake`
 * runs there when the first event comes after the mailbox was made or emptied.
 * It ends with mailbox_release_uv. */
mailbox_status mailbox_create_uv(struct uv_loop_s* uv_loop,
                                 void (*wake)(void* user), void* user,
                                 mailbox** box);

/* Cancels what is in flight and forgets its events. NULL does nothing. */
void mailbox_release(mailbox* box);

/* The same for one on a libuv loop, on its thread: `wake` runs no more, and
 * `gone` once the last request has ended, within this call or while the loop
 * runs. The loop is clean after the turn in which `gone` ran, or after the next
 * if that was within this call. */
void mailbox_release_uv(mailbox* box, void (*gone)(void* user), void* user);

/* Readable while there is something to take; the mailbox's own. */
mailbox_status mailbox_descriptor(mailbox* box, int32_t* fd);

/* rc_generate_async; all events carry `key`. *request may be used to cancel, by
 * its owner, who may also release it at once. */
mailbox_status mailbox_generate(mailbox* box, rc_session* session,
                                const rc_generate_options* options,
                                uint64_t key, rc_request** request);
/* The same of rc_chat_answer_async. */
mailbox_status mailbox_answer(mailbox* box, rc_chat* chat,
                              const rc_generate_options* options, uint64_t key,
                              rc_request** request);

/* All events that wait, without blocking; they are the caller's, see
 * kept_events_free. If memory for a piece is lacking the request ends, with
 * RC_E_OUT_OF_MEMORY. */
mailbox_status mailbox_take(mailbox* box, kept_events* events);
/* The same with at most `max` events, for one with a descriptor, which stays
 * readable while more wait. */
mailbox_status mailbox_take_some(mailbox* box, size_t max, kept_events* events);
void kept_events_free(kept_events* events);

/* Blocks until there is something to take; see rc_loop_wait. */
mailbox_status mailbox_wait(mailbox* box, int64_t timeout_ms);

/* For calls that are no generations, of a mailbox with a descriptor: where the
 * end of one goes, as an end event with `key` and an empty report. */
typedef struct mailbox_receiver mailbox_receiver;
mailbox_status mailbox_begin(mailbox* box, uint64_t key, mailbox_receiver** to);
/* What came of starting the call on the loop of the mailbox. One that has not
 * started has no end. */
mailbox_status mailbox_begun(mailbox_receiver* to, rc_status status);
rc_loop* mailbox_loop(mailbox* box);
/* In the callback of the call. It comes for each: mailbox_release waits for
 * calls that are under way. */
void mailbox_end(mailbox_receiver* to, rc_status status, const char* message);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_SWIG_MAILBOX_H */
