#include "opencl/wait.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/error.h"

namespace rc::opencl {
namespace {

cl_int status_of_event(cl_event event) {
  cl_int status = CL_COMPLETE;
  check(api().GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                           sizeof status, &status, nullptr),
        "clGetEventInfo");
  return status;
}

// Throws if an event ended with a failure.
void check_event(cl_event event) {
  const cl_int status = status_of_event(event);
  if (status < 0) fail_call(status, "a command");
}

struct Bell {
  std::mutex mutex;
  std::condition_variable rung;
  bool is_rung = false;
};

}  // namespace

bool wait_for(cl_event event, int64_t timeout_ms) {
  if (timeout_ms < 0) {
    const cl_int code = api().WaitForEvents(1, &event);
    check_event(event);
    check(code, "clWaitForEvents");
    return true;
  }
  if (status_of_event(event) > CL_COMPLETE) {
    auto bell = std::make_shared<Bell>();
    auto user = std::make_unique<std::shared_ptr<Bell>>(bell);
    check(api().SetEventCallback(
              event, CL_COMPLETE,
              [](cl_event, cl_int, void* data) {
                std::unique_ptr<std::shared_ptr<Bell>> given(
                    static_cast<std::shared_ptr<Bell>*>(data));
                const std::lock_guard lock((*given)->mutex);
                (*given)->is_rung = true;
                (*given)->rung.notify_all();
              },
              user.get()),
          "clSetEventCallback");
    (void)user.release();
    std::unique_lock lock(bell->mutex);
    if (!bell->rung.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                             [&] { return bell->is_rung; })) {
      return false;
    }
  }
  check_event(event);
  return true;
}

}  // namespace rc::opencl
