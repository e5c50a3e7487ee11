/* 64 requests on one libuv loop next to a timer of 1 ms. */
#define _POSIX_C_SOURCE 200809L
#include <uv.h>

#include "many.h"

static double last_tick = 0, worst = 0;
static int ticks = 0;

static void on_tick(uv_timer_t* timer) {
  const double now = now_ms();
  const double late = now - last_tick - 1.0;
  if (late > worst) worst = late;
  last_tick = now;
  ++ticks;
  if (jobs_in_flight == 0) uv_close((uv_handle_t*)timer, NULL);
}

int main(void) {
  uv_loop_t uv;
  uv_timer_t timer;
  rc_loop* loop = NULL;
  CHECK(uv_loop_init(&uv) == 0);
  REQUIRE_OK(rc_loop_uv(&uv, &loop));
  start_jobs(loop);
  rc_loop_release(loop);
  CHECK(uv_timer_init(&uv, &timer) == 0);
  CHECK(uv_timer_start(&timer, on_tick, 1, 1) == 0);
  last_tick = now_ms();
  CHECK(uv_run(&uv, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&uv) == 0);
  check_jobs();
  printf("timer of 1 ms: %d ticks, at worst %.3f ms late\n", ticks, worst);
  return CHECK_RESULT();
}
