#include "api/loop.h"

#include "api/guard.h"
#include "base/work_threads.h"

namespace rc::api {

std::shared_ptr<engine::Loop> loop_or_own(rc_loop* loop) {
  return loop == nullptr ? engine::Loop::own() : need(loop, "loop").loop;
}

namespace {

// Abandons a loop that found no handle to live in. What is asked for on it is
// done on threads that are there already.
rc_loop* give_out(const std::shared_ptr<engine::Loop>& loop) {
  prepare_work_threads();
  try {
    return add_handle(std::make_unique<rc_loop>(loop));
  } catch (...) {
    loop->abandon();
    throw;
  }
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;
using rc::api::need_pointer;
using rc::engine::Loop;

rc_status rc_loop_uv(struct uv_loop_s* uv_loop, rc_loop** loop) {
  return guard_handle(loop, "loop", [&] {
    need_pointer(uv_loop, "uv_loop");
    return rc::api::give_out(Loop::on_uv(uv_loop));
  });
}

rc_status rc_loop_create(rc_loop** loop) {
  return guard_handle(loop, "loop",
                      [&] { return rc::api::give_out(Loop::watched()); });
}

rc_status rc_loop_handle(rc_loop* loop, rc_loop_handle_kind* kind,
                         intptr_t* handle) {
  return guard([&] {
    rc_loop& asked = need(loop, "loop");
    need_pointer(kind, "kind");
    need_pointer(handle, "handle");
    const rc::WaitHandle found = asked.loop->wait_handle();
    *kind = found.kind;
    *handle = found.value;
  });
}

rc_status rc_loop_fd(rc_loop* loop, int32_t* fd) {
  return guard([&] {
    rc_loop& handle = need(loop, "loop");
    need_pointer(fd, "fd");
    const rc::WaitHandle found = handle.loop->wait_handle();
    if (found.kind != RC_LOOP_HANDLE_FD) {
      rc::fail(RC_E_UNSUPPORTED,
               "loop: its handle is no file descriptor here, but of kind ",
               found.kind, ": call rc_loop_handle");
    }
    *fd = static_cast<int32_t>(found.value);
  });
}

rc_status rc_loop_dispatch(rc_loop* loop, size_t max, size_t* count) {
  return guard([&] {
    // A callback may release the handle.
    const std::shared_ptr<Loop> held = need(loop, "loop").loop;
    const size_t delivered = held->dispatch(max);
    if (count != nullptr) *count = delivered;
  });
}

rc_status rc_loop_wait(rc_loop* loop, int64_t timeout_ms) {
  return guard([&] {
    const std::shared_ptr<Loop> held = need(loop, "loop").loop;
    held->wait(timeout_ms);
  });
}

rc_status rc_loop_close(rc_loop* loop) {
  return guard([&] {
    const std::shared_ptr<Loop> held = need(loop, "loop").loop;
    held->close();
  });
}

rc_loop* rc_loop_retain(rc_loop* loop) {
  return rc::api::retain_handle(loop, "loop");
}

void rc_loop_release(rc_loop* loop) { rc::api::release_handle(loop, "loop"); }
