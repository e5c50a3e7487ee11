/* Events are pulled: from one request by request_next, or from a mailbox, which
 * collects the events of many requests and has a descriptor to watch. No thread
 * of the library calls into the language. */
%{
#include "mailbox.h"
%}

typedef struct mailbox mailbox;
runcible_handle(mailbox)

%typemap(out) mailbox_status {
  if ($1 != RC_OK) {
    runcible_raise($1, runcible_own_words(mailbox_error_message()));
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_NOTHING;
}
%apply int32_t* OUTPUT { int32_t* fd }
%apply kept_events* EVENTS { kept_events* events }

mailbox_status mailbox_create(mailbox** box);
mailbox_status mailbox_descriptor(mailbox* box, int32_t* fd);
mailbox_status mailbox_generate(mailbox* box, rc_session* session,
                                const rc_generate_options* options,
                                uint64_t key, rc_request** request);
mailbox_status mailbox_answer(mailbox* box, rc_chat* chat,
                              const rc_generate_options* options, uint64_t key,
                              rc_request** request);
mailbox_status mailbox_take(mailbox* box, kept_events* events);
mailbox_status mailbox_wait(mailbox* box, int64_t timeout_ms);

/* request_next: the event, or nothing if none arrived in time. */
%typemap(out) rc_status request_next {
  if ($1 != RC_OK && $1 != RC_E_TIMEOUT) {
    runcible_raise($1, runcible_own_words(rc_error_message()));
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_NOTHING;
}
%apply rc_event* EVENT { rc_event* event }
%ignore rc_event;
%ignore rc_request_next;

/* Starts a request, or an answer, whose events request_next returns. */
%inline %{
static rc_status request_start(rc_session* session,
                               const rc_generate_options* options,
                               rc_request** request) {
  return rc_generate_async(session, options, NULL, NULL, NULL, request);
}

static rc_status answer_start(rc_chat* chat, const rc_generate_options* options,
                              rc_request** request) {
  return rc_chat_answer_async(chat, options, NULL, NULL, NULL, request);
}

static rc_status request_next(rc_request* request, int64_t timeout_ms,
                              rc_event* event) {
  rc_status status;
  do {
    status = rc_request_next(request, timeout_ms, event);
    event->type = reported_event_type(event);
  } while (status == RC_OK && event->type < 0);
  return status;
}
%}
