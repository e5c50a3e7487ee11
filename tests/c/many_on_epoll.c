/* 64 requests on a plain epoll loop next to a timer of 1 ms. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "many.h"

static void watch(int epoll, int fd) {
  struct epoll_event event;
  memset(&event, 0, sizeof(event));
  event.events = EPOLLIN;
  event.data.fd = fd;
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

int main(void) {
  const struct itimerspec period = {{0, 1000000}, {0, 1000000}};
  rc_loop* loop = NULL;
  int32_t fd = -1;
  int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
  double last_tick, worst = 0;
  int ticks = 0;
  REQUIRE_OK(rc_loop_create(&loop));
  REQUIRE_OK(rc_loop_fd(loop, &fd));
  watch(epoll, fd);
  watch(epoll, timer);
  start_jobs(loop);
  CHECK(timerfd_settime(timer, 0, &period, NULL) == 0);
  last_tick = now_ms();
  while (jobs_in_flight > 0) {
    struct epoll_event events[2];
    int i, n = epoll_wait(epoll, events, 2, 60000);
    if (n < 0 && errno == EINTR) continue;
    CHECK(n > 0);
    if (n <= 0) break;
    for (i = 0; i < n; ++i) {
      if (events[i].data.fd == fd) {
        REQUIRE_OK(rc_loop_dispatch(loop, 0, NULL));
      } else {
        uint64_t expired = 0;
        const double now = now_ms();
        CHECK(read(timer, &expired, sizeof(expired)) == sizeof(expired));
        if (now - last_tick - 1.0 > worst) worst = now - last_tick - 1.0;
        last_tick = now;
        ++ticks;
      }
    }
  }
  rc_loop_release(loop);
  close(timer);
  close(epoll);
  check_jobs();
  printf("timer of 1 ms: %d ticks, at worst %.3f ms late\n", ticks, worst);
  return CHECK_RESULT();
}
