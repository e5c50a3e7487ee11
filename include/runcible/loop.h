/* Runcible: loops, where events are delivered.
 *
 *     rc_loop* loop = NULL;
 *     int32_t descriptor = -1;
 *     if (rc_loop_create(&loop) != RC_OK ||
 *         rc_loop_fd(loop, &descriptor) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("watch descriptor %d for reading, then dispatch\n",
 *            (int)descriptor);
 *     rc_loop_dispatch(loop, 0, NULL);
 *     rc_loop_release(loop);
 *
 * examples/stream_epoll.c and examples/stream_uv.c are whole programs.
 *
 * Callbacks run only on the thread of the loop they were given: the thread that
 * runs the caller's libuv loop, or that calls rc_loop_dispatch, or the
 * library's own loop thread where a NULL loop was given. Compute never runs on
 * a loop's thread nor on libuv's thread pool.
 *
 * In WebAssembly the library's own loop is the event loop of the JavaScript
 * thread that made the module. A build without threads computes there too, a
 * step at a time between other events, and in calls that wait.
 */
#ifndef RUNCIBLE_LOOP_H
#define RUNCIBLE_LOOP_H

#include "runcible/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s;

typedef struct rc_loop rc_loop;

/* Delivers events on a libuv loop. Call it on the thread that runs, or will
 * run, that loop. While requests are in flight the loop is kept alive as by any
 * active handle; otherwise it is not. (A request that another thread starts
 * keeps it alive from the loop's next turn on.) `uv_loop` must outlive the
 * rc_loop and its requests.
 * To shut down: rc_loop_close or rc_loop_release on the loop's thread, then let
 * uv_run return by itself, then uv_loop_close.
 * RC_E_INVALID_ARGUMENT: NULL; RC_E_IO: libuv could not make a handle;
 * RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_loop_uv(struct uv_loop_s* uv_loop, rc_loop** loop);

/* Makes a loop for any other event loop: watch its handle (rc_loop_handle), and
 * call rc_loop_dispatch when events wait. One thread at a time may dispatch or
 * wait. RC_E_IO: the system gave no handle; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_loop_create(rc_loop** loop);

/* Kinds of handles that another event loop can watch. A program that does not
 * know the kind that it gets should call rc_loop_wait on a thread instead. */
typedef int32_t rc_loop_handle_kind;
enum {
  /* A file descriptor, readable while events wait: for poll, epoll, kqueue
   * (EVFILT_READ) and the like. */
  RC_LOOP_HANDLE_FD = 1,
  /* A HANDLE of Windows to a manual-reset event, set while events wait: for
   * WaitForMultipleObjects, RegisterWaitForSingleObject and the like. */
  RC_LOOP_HANDLE_EVENT = 2
};

/* The handle of a loop made by rc_loop_create, and its kind. It belongs to the
 * loop: only watch it, and stop before the loop is released.
 * RC_E_INVALID_ARGUMENT for other loops; RC_E_UNSUPPORTED where a program
 * cannot watch handles (WebAssembly). */
RC_API rc_status rc_loop_handle(rc_loop* loop, rc_loop_handle_kind* kind,
                                intptr_t* handle);

/* rc_loop_handle where the handle is a file descriptor; RC_E_UNSUPPORTED where
 * it is of another kind. */
RC_API rc_status rc_loop_fd(rc_loop* loop, int32_t* fd);

/* Delivers up to `max` waiting events (0: all that wait now) by calling their
 * callbacks, without blocking; *count, unless NULL, gets how many. Not to be
 * called from a callback. RC_E_INVALID_ARGUMENT for loops that were not made by
 * rc_loop_create; RC_E_BUSY: from a callback, or while another thread
 * dispatches or waits. */
RC_API rc_status rc_loop_dispatch(rc_loop* loop, size_t max, size_t* count);

/* Blocks until an event waits or timeout_ms have passed (negative: no limit);
 * RC_E_TIMEOUT then. RC_E_CLOSED: no request is in flight on a closed loop, so
 * that nothing would ever come. RC_E_INVALID_ARGUMENT and RC_E_BUSY as for
 * rc_loop_dispatch. */
RC_API rc_status rc_loop_wait(rc_loop* loop, int64_t timeout_ms);

/* Takes no more requests (they get RC_E_CLOSED) and cancels those in flight,
 * loading models too;
 * each still delivers its end event, so go on running the loop until they have
 * ended. Any thread, any number of times. */
RC_API rc_status rc_loop_close(rc_loop* loop);

/* References; see base.h. */
RC_API rc_loop* rc_loop_retain(rc_loop* loop);
/* Requests in flight keep a libuv loop: what was released goes away after the
 * last of them has delivered its end event. Its last reference may be released
 * on any thread; the handle in it is closed on the loop's, at its next turn.
 * After the last reference to a loop made by rc_loop_create is gone no thread
 * can dispatch its events: requests in flight are cancelled, and their events,
 * the end too, are dropped. Close it and dispatch until RC_E_CLOSED to
 * receive them all. */
RC_API void rc_loop_release(rc_loop* loop);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_LOOP_H */
