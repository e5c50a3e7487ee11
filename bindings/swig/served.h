/* Functions of an interpreter that only its own thread can run, called by
 * custom ops. A thread of the library adds its request here and waits. The
 * interpreter's thread answers it while it waits for a call that it has made
 * and that another thread executes. If no such call waits, the function cannot
 * be called, and the op fails. Included by wrappers. */
#ifndef RUNCIBLE_SERVED_H
#define RUNCIBLE_SERVED_H

#include <pthread.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct runcible_served;

/* A function that an op holds. */
typedef struct runcible_function {
  struct runcible_served* of;
  void* object; /* of the language */
  struct runcible_function* next;
} runcible_function;

/* A call that waits for the interpreter. */
typedef struct runcible_wanted {
  struct runcible_wanted* next;
  void* object;
  const rc_custom_call* call;
  char* message;
  rc_status status;
  int over;
} runcible_wanted;

/* Calls and functions of one interpreter; lives until both are gone. */
typedef struct runcible_served {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int references;
  int functions; /* held by ops */
  int serving;   /* calls of the interpreter that wait */
  int gone;      /* the interpreter has ended */
  runcible_wanted* first;
  runcible_wanted* last;
  runcible_function* released; /* whose objects are to be released */
} runcible_served;

static inline runcible_served* runcible_new_served(void) {
  runcible_served* made = (runcible_served*)calloc(1, sizeof(*made));
  if (made == NULL) return NULL;
  if (pthread_mutex_init(&made->mutex, NULL) != 0) {
    free(made);
    return NULL;
  }
  pthread_cond_init(&made->changed, NULL);
  made->references = 1;
  return made;
}

/* Requires: the caller holds the mutex, which this unlocks. */
static inline void runcible_unref_served(runcible_served* served) {
  const int last = --served->references == 0;
  pthread_mutex_unlock(&served->mutex);
  if (!last) return;
  pthread_cond_destroy(&served->changed);
  pthread_mutex_destroy(&served->mutex);
  free(served);
}

/* Takes the functions whose objects are no longer needed. The interpreter's
 * thread frees them, each separately. */
static inline runcible_function* runcible_take_released(
    runcible_served* served) {
  runcible_function* taken;
  pthread_mutex_lock(&served->mutex);
  taken = served->released;
  served->released = NULL;
  pthread_mutex_unlock(&served->mutex);
  return taken;
}

/* The interpreter ends, and with it its objects. NULL does nothing. */
static inline void runcible_leave_served(runcible_served* served) {
  runcible_function* left;
  if (served == NULL) return;
  left = runcible_take_released(served);
  while (left != NULL) {
    runcible_function* next = left->next;
    free(left);
    left = next;
  }
  pthread_mutex_lock(&served->mutex);
  served->gone = 1;
  runcible_unref_served(served);
}

/* An rc_custom_op_options.release. */
static inline void runcible_release_function(void* user) {
  runcible_function* function = (runcible_function*)user;
  runcible_served* served = function->of;
  pthread_mutex_lock(&served->mutex);
  --served->functions;
  if (served->gone) {
    free(function);
  } else {
    function->next = served->released;
    served->released = function;
  }
  runcible_unref_served(served);
}

/* Writes the reason why a function is not called. */
static inline void runcible_refuse_wanted(char* message) {
  snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES,
           "the function runs only while its thread waits for the op or for a "
           "run of a graph, in a call that waits itself");
}

/* An rc_custom_function. */
static inline rc_status runcible_want(void* user, const rc_custom_call* call,
                                      char* message) {
  const runcible_function* function = (const runcible_function*)user;
  runcible_served* served = function->of;
  runcible_wanted wanted = {NULL,    function->object, call,
                            message, RC_E_BUSY,        0};
  pthread_mutex_lock(&served->mutex);
  if (served->serving > 0) {
    if (served->first == NULL) {
      served->first = &wanted;
    } else {
      served->last->next = &wanted;
    }
    served->last = &wanted;
    pthread_cond_broadcast(&served->changed);
    while (!wanted.over) pthread_cond_wait(&served->changed, &served->mutex);
  } else {
    runcible_refuse_wanted(message);
  }
  pthread_mutex_unlock(&served->mutex);
  return wanted.status;
}

/* Sets the function of an op that will be created; 0 without memory. */
static inline int runcible_set_function(rc_custom_op_options* options,
                                        runcible_served* served, void* object) {
  runcible_function* function =
      (runcible_function*)calloc(1, sizeof(*function));
  if (function == NULL || served == NULL) {
    free(function);
    return 0;
  }
  function->of = served;
  function->object = object;
  pthread_mutex_lock(&served->mutex);
  ++served->references;
  ++served->functions;
  pthread_mutex_unlock(&served->mutex);
  options->function = runcible_want;
  options->user = function;
  options->release = runcible_release_function;
  return 1;
}

/* A call that another thread executes. */
typedef struct {
  rc_status (*run)(void* data);
  void* data;
  rc_status status;
  char message[1024];
  runcible_served* served; /* NULL: on the caller's thread */
  int over;
} runcible_served_call;

static inline void* runcible_do_served_call(void* data) {
  runcible_served_call* call = (runcible_served_call*)data;
  call->status = call->run(call->data);
  if (call->status != RC_OK) {
    strncpy(call->message, rc_error_message(), sizeof(call->message) - 1);
  }
  if (call->served == NULL) return NULL;
  pthread_mutex_lock(&call->served->mutex);
  call->over = 1;
  pthread_cond_broadcast(&call->served->changed);
  pthread_mutex_unlock(&call->served->mutex);
  return NULL;
}

/* Answers requests until the call is over. Requires: the mutex is held. */
static inline void runcible_answer_wanted(runcible_served_call* call,
                                          void (*eval)(void*, runcible_wanted*),
                                          void* user) {
  runcible_served* served = call->served;
  while (!call->over) {
    runcible_wanted* wanted = served->first;
    if (wanted == NULL) {
      pthread_cond_wait(&served->changed, &served->mutex);
      continue;
    }
    served->first = wanted->next;
    pthread_mutex_unlock(&served->mutex);
    eval(user, wanted);
    pthread_mutex_lock(&served->mutex);
    wanted->over = 1;
    pthread_cond_broadcast(&served->changed);
  }
}

/* Ends answering: requests of other calls that still wait fail. Requires: the
 * mutex is held. */
static inline void runcible_end_serving(runcible_served* served) {
  if (--served->serving > 0) return;
  for (; served->first != NULL; served->first = served->first->next) {
    runcible_refuse_wanted(served->first->message);
    served->first->over = 1;
  }
  pthread_cond_broadcast(&served->changed);
}

/* Runs a call on another thread while this thread, the interpreter's, answers
 * requests by `eval`. That function must return: it sets the status and, after
 * a failure, the message. `served` may be NULL, and `message` has room for 1024
 * bytes. */
static inline rc_status runcible_serve(runcible_served* served,
                                       rc_status (*run)(void* data), void* data,
                                       void (*eval)(void*, runcible_wanted*),
                                       void* user, char* message) {
  runcible_served_call call;
  pthread_t thread;
  int serving = 0;
  memset(&call, 0, sizeof(call));
  call.run = run;
  call.data = data;
  if (served != NULL) {
    pthread_mutex_lock(&served->mutex);
    if (served->functions > 0) {
      call.served = served;
      serving =
          pthread_create(&thread, NULL, runcible_do_served_call, &call) == 0;
    }
    if (serving) {
      ++served->serving;
      runcible_answer_wanted(&call, eval, user);
      runcible_end_serving(served);
    }
    pthread_mutex_unlock(&served->mutex);
  }
  if (serving) {
    pthread_join(thread, NULL);
  } else {
    call.served = NULL;
    runcible_do_served_call(&call);
  }
  memcpy(message, call.message, sizeof(call.message));
  return call.status;
}

#endif /* RUNCIBLE_SERVED_H */
