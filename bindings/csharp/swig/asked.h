/* Requests of the library's threads to C#: calls of the functions of custom
 * ops, and the release of borrowed objects. mono ends a process only when it
 * has aborted all threads that have ever run C#, which it cannot do within C.
 * So no thread of the library runs C#: it puts its request here, from where
 * threads of C# take it, and waits for the answer. Included by the wrapper
 * alone. */
#ifndef RUNCIBLE_CSHARP_ASKED_H
#define RUNCIBLE_CSHARP_ASKED_H

#include <pthread.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct runcible_asked {
  struct runcible_asked* next;
  void* handle;               /* of an object of C# */
  const rc_custom_call* call; /* NULL: the handle is not needed any more */
  char* message;
  rc_status status;
  int over;
} runcible_asked;

static pthread_mutex_t runcible_asking = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t runcible_posted = PTHREAD_COND_INITIALIZER;
static pthread_cond_t runcible_answered = PTHREAD_COND_INITIALIZER;
static runcible_asked* runcible_first;
static runcible_asked* runcible_last;
static int32_t runcible_idle;  /* threads of C# that wait for a request */
static int runcible_has_ended; /* no thread of C# takes requests any more */

/* Requires: the caller holds the mutex. */
static void runcible_post(runcible_asked* asked) {
  asked->next = NULL;
  if (runcible_first == NULL) {
    runcible_first = asked;
  } else {
    runcible_last->next = asked;
  }
  runcible_last = asked;
  pthread_cond_signal(&runcible_posted);
}

/* Makes the holder of a handle until its release; NULL without memory. */
static runcible_asked* runcible_hold(void* handle) {
  runcible_asked* held = (runcible_asked*)calloc(1, sizeof(*held));
  if (held != NULL) held->handle = handle;
  return held;
}

/* Called at the end of a borrowing, or of an op. */
static void runcible_on_released(void* user) {
  runcible_asked* held = (runcible_asked*)user;
  pthread_mutex_lock(&runcible_asking);
  if (runcible_has_ended) {
    free(held);
  } else {
    runcible_post(held);
  }
  pthread_mutex_unlock(&runcible_asking);
}

/* Calls the function of C#: an rc_custom_function. */
static rc_status runcible_on_compute(void* user, const rc_custom_call* call,
                                     char* message) {
  runcible_asked asked = {
      NULL, ((runcible_asked*)user)->handle, call, message, RC_E_DEVICE_LOST,
      0};
  pthread_mutex_lock(&runcible_asking);
  if (!runcible_has_ended) {
    runcible_post(&asked);
    while (!asked.over) {
      pthread_cond_wait(&runcible_answered, &runcible_asking);
    }
  }
  pthread_mutex_unlock(&runcible_asking);
  if (!asked.over) strcpy(message, "the program ends");
  return asked.status;
}

/* Takes the next request, which the caller must answer, or NULL if none came in
 * time. `idle` receives the number of other threads that wait for one. */
static runcible_asked* runcible_take_asked(int64_t timeout_ms, int32_t* idle) {
  runcible_asked* taken;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
  until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&runcible_asking);
  ++runcible_idle;
  while (runcible_first == NULL &&
         pthread_cond_timedwait(&runcible_posted, &runcible_asking, &until) ==
             0) {
  }
  *idle = --runcible_idle;
  taken = runcible_first;
  if (taken != NULL) runcible_first = taken->next;
  pthread_mutex_unlock(&runcible_asking);
  return taken;
}

/* Answers a request; `text` may be NULL for a success. */
static void runcible_answer(runcible_asked* asked, rc_status status,
                            const char* text) {
  pthread_mutex_lock(&runcible_asking);
  if (text != NULL) {
    snprintf(asked->message, RC_OP_BACKEND_MESSAGE_BYTES, "%s", text);
  }
  asked->status = status;
  asked->over = 1;
  pthread_cond_broadcast(&runcible_answered);
  pthread_mutex_unlock(&runcible_asking);
}

/* Ends the taking of requests: those that wait fail. */
static void runcible_end_asking(void) {
  runcible_asked* left;
  pthread_mutex_lock(&runcible_asking);
  runcible_has_ended = 1;
  while ((left = runcible_first) != NULL) {
    runcible_first = left->next;
    if (left->call == NULL) {
      free(left);
    } else {
      strcpy(left->message, "the program ends");
      left->over = 1;
    }
  }
  pthread_cond_broadcast(&runcible_answered);
  pthread_mutex_unlock(&runcible_asking);
}

#endif /* RUNCIBLE_CSHARP_ASKED_H */
