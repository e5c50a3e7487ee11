#include "mailbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The receiver of one request's events. It reserves the memory for the end
 * event, so that the end is delivered even if memory has run out. */
typedef struct mailbox_receiver {
  kept_event end;            /* first: freed as an event */
  rc_generate_report report; /* of the end event, like the message */
  char message[1024];
  mailbox* box;
  int lost_a_piece;
  int is_call; /* started by mailbox_begin */
  struct mailbox_receiver* previous;
  struct mailbox_receiver* next;
} receiver;

struct mailbox {
  rc_loop* loop;
  void (*wake)(void* user); /* NULL: events arrive within mailbox_take */
  void* wake_user;
  pthread_mutex_t mutex; /* guards all that follows */
  receiver* receivers;   /* of requests that have not ended */
  kept_event* first;
  kept_event** last;
  void (*gone)(void* user); /* not NULL: released, on a libuv loop */
  void* gone_user;
};

/* The message of an error here and not in the library; NULL: none. */
static __thread const char* own_message = NULL;

static mailbox_status library_status(rc_status status) {
  own_message = NULL;
  return status;
}

static mailbox_status out_of_memory(void) {
  own_message = "no memory for a queue of events";
  return RC_E_OUT_OF_MEMORY;
}

const char* mailbox_error_message(void) {
  return own_message != NULL ? own_message : rc_error_message();
}

static void link_receiver(mailbox* box, receiver* made) {
  made->next = box->receivers;
  if (made->next != NULL) made->next->previous = made;
  box->receivers = made;
}

static void unlink_receiver(mailbox* box, receiver* gone) {
  if (gone->next != NULL) gone->next->previous = gone->previous;
  if (gone->previous != NULL) {
    gone->previous->next = gone->next;
  } else {
    box->receivers = gone->next;
  }
}

static void post(mailbox* box, kept_event* kept) {
  kept->next = NULL;
  *box->last = kept;
  box->last = &kept->next;
}

/* Copies `size` bytes to `*room` and advances it; NULL for no bytes. */
static const void* put(char** room, const void* data, size_t size) {
  void* copy = *room;
  if (data == NULL || size == 0) return NULL;
  memcpy(copy, data, size);
  *room += size;
  return copy;
}

static size_t size_of_text(const char* text) {
  return text == NULL ? 0 : strlen(text) + 1;
}

/* Copies an event other than an end, with everything that it points to, into
 * one block; arrays of numbers come before the texts, which need no alignment.
 */
static kept_event* copy_piece(const rc_event* event) {
  const size_t tokens = event->token_count * sizeof(int32_t);
  const size_t logprobs =
      event->logprobs == NULL ? 0 : event->token_count * sizeof(float);
  const size_t top = event->token_count * event->top_count;
  const size_t top_tokens =
      event->top_tokens == NULL ? 0 : top * sizeof(int32_t);
  const size_t top_logprobs =
      event->top_logprobs == NULL ? 0 : top * sizeof(float);
  const size_t name = size_of_text(event->call_name);
  const size_t id = size_of_text(event->call_id);
  kept_event* kept =
      (kept_event*)malloc(sizeof(*kept) + tokens + logprobs + top_tokens +
                          top_logprobs + event->text_length + name + id);
  char* room = (char*)(kept + 1);
  if (kept == NULL) return NULL;
  kept->event = *event;
  kept->event.type = reported_event_type(event);
  kept->event.tokens = (const int32_t*)put(&room, event->tokens, tokens);
  kept->event.logprobs = (const float*)put(&room, event->logprobs, logprobs);
  kept->event.top_tokens =
      (const int32_t*)put(&room, event->top_tokens, top_tokens);
  kept->event.top_logprobs =
      (const float*)put(&room, event->top_logprobs, top_logprobs);
  kept->event.text = (const char*)put(&room, event->text, event->text_length);
  kept->event.call_name = (const char*)put(&room, event->call_name, name);
  kept->event.call_id = (const char*)put(&room, event->call_id, id);
  kept->event.request = NULL;
  return kept;
}

static void keep_end(receiver* to, const rc_event* event) {
  unlink_receiver(to->box, to);
  to->end.event = *event;
  to->end.event.request = NULL;
  to->report = *event->report;
  strncpy(to->message, event->message, sizeof(to->message) - 1);
  if (to->lost_a_piece) {
    strcpy(to->message, "no memory to keep a piece of the text in");
    to->report.reason = RC_END_ERROR;
    to->report.status = RC_E_OUT_OF_MEMORY;
  }
  to->end.event.message = to->message;
  to->end.event.report = &to->report;
  post(to->box, &to->end);
}

/* Requires: the caller holds the mutex. */
static void keep(receiver* to, const rc_event* event) {
  kept_event* kept;
  if (event->type == RC_EVENT_END) {
    keep_end(to, event);
    return;
  }
  if (to->lost_a_piece || reported_event_type(event) < 0) return;
  kept = copy_piece(event);
  if (kept == NULL) {
    to->lost_a_piece = 1;
    rc_request_cancel(event->request);
    return;
  }
  kept->key = to->end.key;
  post(to->box, kept);
}

/* Runs within mailbox_take, which holds the mutex. */
static void on_event(void* user, const rc_event* event) {
  keep((receiver*)user, event);
}

/* Frees a mailbox that was released and has no receivers. */
static void finish_uv(mailbox* box) {
  void (*gone)(void* user) = box->gone;
  void* user = box->gone_user;
  mailbox_release(box);
  gone(user);
}

/* Runs on the thread of a libuv loop. */
static void on_uv_event(void* user, const rc_event* event) {
  mailbox* box = ((receiver*)user)->box;
  int first, finished;
  pthread_mutex_lock(&box->mutex);
  first = box->first == NULL;
  keep((receiver*)user, event);
  first = first && box->first != NULL && box->gone == NULL;
  finished = box->gone != NULL && box->receivers == NULL;
  pthread_mutex_unlock(&box->mutex);
  if (first) box->wake(box->wake_user);
  if (finished) finish_uv(box);
}

/* Makes a mailbox that owns the loop's reference; NULL without memory. */
static mailbox* make(rc_loop* loop) {
  mailbox* made = (mailbox*)calloc(1, sizeof(*made));
  if (made == NULL) return NULL;
  if (pthread_mutex_init(&made->mutex, NULL) != 0) {
    free(made);
    return NULL;
  }
  made->loop = loop;
  made->last = &made->first;
  return made;
}

mailbox_status mailbox_create(mailbox** box) {
  rc_loop* loop = NULL;
  const rc_status status = rc_loop_create(&loop);
  *box = NULL;
  if (status != RC_OK) return library_status(status);
  *box = make(loop);
  if (*box != NULL) return RC_OK;
  rc_loop_release(loop);
  return out_of_memory();
}

mailbox_status mailbox_create_uv(struct uv_loop_s* uv_loop,
                                 void (*wake)(void* user), void* user,
                                 mailbox** box) {
  rc_loop* loop = NULL;
  const rc_status status = rc_loop_uv(uv_loop, &loop);
  *box = NULL;
  if (status != RC_OK) return library_status(status);
  *box = make(loop);
  if (*box == NULL) {
    rc_loop_release(loop);
    return out_of_memory();
  }
  (*box)->wake = wake;
  (*box)->wake_user = user;
  return RC_OK;
}

/* Waits for all calls: they use their arguments until they end. */
static void end_calls(mailbox* box) {
  receiver* waiting = box->receivers;
  while (waiting != NULL && !waiting->is_call) waiting = waiting->next;
  if (waiting == NULL) return;
  rc_loop_close(box->loop);
  while (rc_loop_wait(box->loop, -1) == RC_OK) {
    rc_loop_dispatch(box->loop, 0, NULL);
  }
}

void mailbox_release(mailbox* box) {
  kept_events left;
  receiver* waiting;
  if (box == NULL) return;
  end_calls(box);
  /* No callback runs from here on, because no thread can dispatch. */
  rc_loop_release(box->loop);
  left.first = box->first;
  kept_events_free(&left);
  while ((waiting = box->receivers) != NULL) {
    unlink_receiver(box, waiting);
    free(waiting);
  }
  pthread_mutex_destroy(&box->mutex);
  free(box);
}

void mailbox_release_uv(mailbox* box, void (*gone)(void* user), void* user) {
  int finished;
  pthread_mutex_lock(&box->mutex);
  box->gone = gone;
  box->gone_user = user;
  finished = box->receivers == NULL;
  pthread_mutex_unlock(&box->mutex);
  if (finished) {
    finish_uv(box);
  } else {
    rc_loop_close(box->loop);
  }
}

mailbox_status mailbox_descriptor(mailbox* box, int32_t* fd) {
  return library_status(rc_loop_fd(box->loop, fd));
}

/* Adds a receiver to the mailbox before its request can post; NULL without
 * memory. */
static receiver* make_receiver(mailbox* box, uint64_t key) {
  receiver* made = (receiver*)calloc(1, sizeof(*made));
  if (made == NULL) return NULL;
  made->end.key = key;
  made->box = box;
  pthread_mutex_lock(&box->mutex);
  link_receiver(box, made);
  pthread_mutex_unlock(&box->mutex);
  return made;
}

/* Completes starting the request of a receiver; a request that did not start
 * posts nothing. */
static mailbox_status started(receiver* to, rc_status status) {
  if (status != RC_OK) {
    pthread_mutex_lock(&to->box->mutex);
    unlink_receiver(to->box, to);
    pthread_mutex_unlock(&to->box->mutex);
    free(to);
  }
  return library_status(status);
}

static rc_event_callback callback_of(const mailbox* box) {
  return box->wake != NULL ? on_uv_event : on_event;
}

mailbox_status mailbox_generate(mailbox* box, rc_session* session,
                                const rc_generate_options* options,
                                uint64_t key, rc_request** request) {
  receiver* to = make_receiver(box, key);
  *request = NULL;
  if (to == NULL) return out_of_memory();
  return started(to, rc_generate_async(session, options, box->loop,
                                       callback_of(box), to, request));
}

mailbox_status mailbox_answer(mailbox* box, rc_chat* chat,
                              const rc_generate_options* options, uint64_t key,
                              rc_request** request) {
  receiver* to = make_receiver(box, key);
  *request = NULL;
  if (to == NULL) return out_of_memory();
  return started(to, rc_chat_answer_async(chat, options, box->loop,
                                          callback_of(box), to, request));
}

mailbox_status mailbox_begin(mailbox* box, uint64_t key,
                             mailbox_receiver** to) {
  *to = make_receiver(box, key);
  if (*to == NULL) return out_of_memory();
  (*to)->is_call = 1;
  return RC_OK;
}

mailbox_status mailbox_begun(mailbox_receiver* to, rc_status status) {
  return started(to, status);
}

rc_loop* mailbox_loop(mailbox* box) { return box->loop; }

void mailbox_end(mailbox_receiver* to, rc_status status, const char* message) {
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  rc_event event = RC_EVENT_INIT;
  event.type = RC_EVENT_END;
  event.message = message == NULL ? "" : message;
  event.report = &report;
  report.status = status;
  if (status != RC_OK) report.reason = RC_END_ERROR;
  keep_end(to, &event);
}

mailbox_status mailbox_take(mailbox* box, kept_events* events) {
  return mailbox_take_some(box, 0, events);
}

mailbox_status mailbox_take_some(mailbox* box, size_t max,
                                 kept_events* events) {
  rc_status status = RC_OK;
  pthread_mutex_lock(&box->mutex);
  if (box->wake == NULL) status = rc_loop_dispatch(box->loop, max, NULL);
  events->first = box->first;
  box->first = NULL;
  box->last = &box->first;
  pthread_mutex_unlock(&box->mutex);
  return library_status(status);
}

void kept_events_free(kept_events* events) {
  kept_event* event;
  while ((event = events->first) != NULL) {
    events->first = event->next;
    free(event);
  }
}

mailbox_status mailbox_wait(mailbox* box, int64_t timeout_ms) {
  return library_status(rc_loop_wait(box->loop, timeout_ms));
}
