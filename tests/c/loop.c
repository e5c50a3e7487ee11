/* Exercises loop.h: the library's own loop, a dispatched one, and closing. */
#define _POSIX_C_SOURCE 200809L
#include "runcible/loop.h"

#include <poll.h>
#include <uv.h>

#include "check.h"
#include "runcible/generate.h"

typedef struct counts {
  int pieces;
  int ends;
  rc_status status;
  rc_request* released; /* by the callback of its end */
} counts;

static void on_event(void* user, const rc_event* event) {
  counts* c = user;
  CHECK(event->struct_size == sizeof(rc_event));
  CHECK(c->ends == 0);
  if (event->type == RC_EVENT_PIECE) {
    ++c->pieces;
  } else {
    ++c->ends;
    c->status = event->report->status;
    rc_request_release(c->released);
  }
}

static void on_event_cancel(void* user, const rc_event* event) {
  on_event(user, event);
  CHECK_STATUS(RC_OK, rc_request_cancel(event->request));
}

static counts own;

int main(void) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session *session = NULL, *endless = NULL;
  rc_session_options session_options = RC_SESSION_OPTIONS_INIT;
  rc_loop* loop = NULL;
  rc_request* request = NULL;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  counts c = {0, 0, 0, NULL};
  uv_loop_t uv;
  struct pollfd watched;
  int32_t fd = -1;
  rc_loop_handle_kind kind = 0;
  intptr_t handle = -1;
  size_t count = 0, seen = 0;

  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_loop_create(NULL));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_loop_uv(NULL, &loop));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_loop_fd(NULL, &fd));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_loop_close(NULL));
  rc_loop_release(NULL);

  REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  REQUIRE_OK(rc_session_create(model, NULL, &session));
  options.max_tokens = 8;
  options.ignore_eos = 1;
  options.prompt = "hello";
  options.prompt_length = 5;

  /* A loop by descriptor. */
  REQUIRE_OK(rc_loop_create(&loop));
  REQUIRE_OK(rc_loop_fd(loop, &fd));
  REQUIRE_OK(rc_loop_handle(loop, &kind, &handle));
  CHECK(kind == RC_LOOP_HANDLE_FD && handle == fd);
  REQUIRE_OK(
      rc_generate_async(session, &options, loop, on_event, &c, &c.released));
  while (c.ends == 0) {
    watched.fd = fd;
    watched.events = POLLIN;
    CHECK(poll(&watched, 1, 60000) == 1);
    REQUIRE_OK(rc_loop_dispatch(loop, 1, &count));
    CHECK(count <= 1);
    seen += count;
  }
  CHECK(c.status == RC_OK && seen == (size_t)(c.pieces + c.ends));
  CHECK_STATUS(RC_E_TIMEOUT, rc_loop_wait(loop, 0));

  /* Cancelled from a callback. A session that shifts goes on until then. */
  memset(&c, 0, sizeof(c));
  options.max_tokens = -1;
  session_options.when_full = RC_FULL_SHIFT;
  REQUIRE_OK(rc_session_create(model, &session_options, &endless));
  REQUIRE_OK(
      rc_generate_async(endless, &options, loop, on_event_cancel, &c, NULL));
  rc_session_release(endless);
  while (c.ends == 0) {
    REQUIRE_OK(rc_loop_wait(loop, 60000));
    REQUIRE_OK(rc_loop_dispatch(loop, 0, NULL));
  }
  CHECK(c.status == RC_E_CANCELLED);

  /* Closed with a request in flight. */
  memset(&c, 0, sizeof(c));
  REQUIRE_OK(rc_session_truncate(session, 0));
  REQUIRE_OK(rc_generate_async(session, &options, loop, on_event, &c, NULL));
  REQUIRE_OK(rc_loop_close(loop));
  CHECK_STATUS(RC_E_CLOSED,
               rc_generate_async(session, &options, loop, on_event, &c, NULL));
  while (rc_loop_wait(loop, -1) == RC_OK) {
    REQUIRE_OK(rc_loop_dispatch(loop, 0, NULL));
  }
  CHECK_STATUS(RC_E_CLOSED, rc_loop_wait(loop, -1));
  CHECK(c.ends == 1);
  rc_loop_release(loop);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_loop_fd(loop, &fd));

  /* Released with a request in flight: its events are dropped. */
  memset(&c, 0, sizeof(c));
  REQUIRE_OK(rc_session_truncate(session, 0));
  REQUIRE_OK(rc_loop_create(&loop));
  REQUIRE_OK(
      rc_generate_async(session, &options, loop, on_event, &c, &request));
  rc_loop_release(loop);
  CHECK_STATUS(RC_OK, rc_request_wait(request, -1));
  rc_request_release(request);
  CHECK(c.ends == 0 && c.pieces == 0);

  /* libuv: released at once, the loop ends by itself after the end event. */
  memset(&c, 0, sizeof(c));
  REQUIRE_OK(rc_session_truncate(session, 0));
  CHECK(uv_loop_init(&uv) == 0);
  REQUIRE_OK(rc_loop_uv(&uv, &loop));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_loop_fd(loop, &fd));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_loop_handle(loop, &kind, &handle));
  options.max_tokens = 8;
  REQUIRE_OK(rc_generate_async(session, &options, loop, on_event, &c, NULL));
  rc_loop_release(loop);
  CHECK(uv_run(&uv, UV_RUN_DEFAULT) == 0);
  CHECK(c.ends == 1 && c.status == RC_OK);
  CHECK(uv_loop_close(&uv) == 0);

  /* The library's own loop; the program may end before it has delivered. */
  REQUIRE_OK(
      rc_generate_async(session, &options, NULL, on_event, &own, &request));
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  REQUIRE_OK(rc_request_wait(request, -1));
  rc_request_release(request);
  return CHECK_RESULT();
}
