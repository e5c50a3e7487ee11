/* Many requests at once, each on a separate session, for the programs that
 * run them on one loop. */
#ifndef RUNCIBLE_TESTS_C_MANY_H
#define RUNCIBLE_TESTS_C_MANY_H

#include <time.h>

#include "check.h"
#include "runcible/runcible.h"

enum { kRequests = 64, kTokens = 24 };

typedef struct job {
  int ends;
  int64_t tokens;
  rc_status status;
  rc_session* session;
} job;

static job jobs[kRequests];
static int jobs_in_flight = 0;

static inline double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void on_job_event(void* user, const rc_event* event) {
  job* j = user;
  CHECK(j->ends == 0);
  if (event->type == RC_EVENT_PIECE) {
    j->tokens += (int64_t)event->token_count;
    return;
  }
  ++j->ends;
  j->status = event->report->status;
  --jobs_in_flight;
}

/* Starts them all. */
static void start_jobs(rc_loop* loop) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  int i;
  REQUIRE_OK(rc_backend_open("cpu,reference", NULL, &backend));
  model_options.context_length = 64;
  model_options.cache_tokens = kRequests * 64;
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, &model_options, &model));
  options.max_tokens = kTokens;
  options.ignore_eos = 1;
  options.prompt = "hello";
  options.prompt_length = 5;
  for (i = 0; i < kRequests; ++i) {
    REQUIRE_OK(rc_session_create(model, NULL, &jobs[i].session));
    options.seed = (uint64_t)i;
    ++jobs_in_flight;
    REQUIRE_OK(rc_generate_async(jobs[i].session, &options, loop, on_job_event,
                                 &jobs[i], NULL));
  }
  rc_model_release(model);
  rc_backend_release(backend);
}

static inline void check_jobs(void) {
  int i;
  for (i = 0; i < kRequests; ++i) {
    CHECK(jobs[i].ends == 1);
    CHECK(jobs[i].status == RC_OK);
    CHECK(jobs[i].tokens == kTokens);
    rc_session_release(jobs[i].session);
  }
}

#endif
