/* A mailbox: requests post their events into it, and the language takes them
 * out when its event loop finds the mailbox's descriptor readable. Callbacks
 * within mailbox_take copy the events, on the thread that calls it; threads of
 * the library never call the language. A mailbox on a libuv loop has no
 * descriptor: the loop's thread copies the events as they arrive and calls a
 * function there when events wait.
 *
 * Any thread may call any function here at any time, unless stated otherwise.
 */
#ifndef RUNCIBLE_SWIG_MAILBOX_H
#define RUNCIBLE_SWIG_MAILBOX_H

#include <runcible/runcible.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mailbox mailbox;

/* A status; after a failure mailbox_error_message describes the error, as
 * rc_error_message does, until the thread's next call. */
typedef rc_status mailbox_status;
const char* mailbox_error_message(void);

/* The type of an event as the packages report it, -1 if they do not: a call of
 * a tool is reported once, when it is complete, and an abandoned one is text.
 */
static inline rc_event_type reported_event_type(const rc_event* event) {
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

/* The numbers of an rc_generate_report after `reason` and `seed`, in their
 * order, as DO(prompt_tokens) and so on; each language defines DO. */
/* :api: end_numbers */

/* Events in the order in which they arrived. */
typedef struct kept_events {
  kept_event* first;
} kept_events;

/* Creates a mailbox; returns the statuses of rc_loop_create. */
mailbox_status mailbox_create(mailbox** box);

/* Creates a mailbox on a libuv loop; call it on the loop's thread. Returns the
 * statuses of rc_loop_uv. `wake` runs there when the first event arrives after
 * the mailbox was made or emptied. Ends with mailbox_release_uv. */
mailbox_status mailbox_create_uv(struct uv_loop_s* uv_loop,
                                 void (*wake)(void* user), void* user,
                                 mailbox** box);

/* Cancels all requests in flight and drops their events. NULL does nothing. */
void mailbox_release(mailbox* box);

/* The same for a mailbox on a libuv loop, on its thread: `wake` runs no more,
 * and `gone` runs once the last request has ended, within this call or while
 * the loop runs. The loop is clean after the turn in which `gone` ran, or one
 * turn later if it ran within this call. */
void mailbox_release_uv(mailbox* box, void (*gone)(void* user), void* user);

/* A descriptor, owned by the mailbox, that is readable while events wait. */
mailbox_status mailbox_descriptor(mailbox* box, int32_t* fd);

/* Calls rc_generate_async; all events carry `key`. The owner of *request may
 * use it to cancel, and may also release it at once. */
mailbox_status mailbox_generate(mailbox* box, rc_session* session,
                                const rc_generate_options* options,
                                uint64_t key, rc_request** request);
/* The same for rc_chat_answer_async. */
mailbox_status mailbox_answer(mailbox* box, rc_chat* chat,
                              const rc_generate_options* options, uint64_t key,
                              rc_request** request);

/* Takes all events that wait, without blocking. The caller owns them; see
 * kept_events_free. If there is no memory for a piece, the request ends with
 * RC_E_OUT_OF_MEMORY. */
mailbox_status mailbox_take(mailbox* box, kept_events* events);
/* The same with at most `max` events, for a mailbox with a descriptor, which
 * stays readable while more wait. */
mailbox_status mailbox_take_some(mailbox* box, size_t max, kept_events* events);
void kept_events_free(kept_events* events);

/* Blocks until events wait; see rc_loop_wait. */
mailbox_status mailbox_wait(mailbox* box, int64_t timeout_ms);

/* The receiver of the end of a call that is not a generation, in a mailbox with
 * a descriptor. The end arrives as an end event with `key` and an empty report.
 */
typedef struct mailbox_receiver mailbox_receiver;
mailbox_status mailbox_begin(mailbox* box, uint64_t key, mailbox_receiver** to);
/* Completes starting the call on the loop of the mailbox. A call that did not
 * start has no end. */
mailbox_status mailbox_begun(mailbox_receiver* to, rc_status status);
rc_loop* mailbox_loop(mailbox* box);
/* Reports the end, in the callback of the call. Requires: the callback comes
 * for each call, because mailbox_release waits for calls in flight. */
void mailbox_end(mailbox_receiver* to, rc_status status, const char* message);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_SWIG_MAILBOX_H */
