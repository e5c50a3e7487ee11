#include "runcible/generate.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "api/configured.h"
#include "api/generate_options.h"
#include "api/guard.h"
#include "api/options.h"
#include "api/returned_memory.h"
#include "api/session.h"
#include "api/start_request.h"
#include "engine/turns.h"

namespace rc::api {
namespace {

// Collects a whole generation for a thread that waits for its end.
class Collector final : public engine::Listener {
 public:
  explicit Collector(std::shared_ptr<HandleAccount> account)
      : slot_(std::move(account)) {}

  void piece(engine::Piece piece) override { text_ += piece.text; }

  void end(const rc_generate_report& report,
           const char* message) noexcept override {
    slot_.release();
    std::lock_guard lock(mutex_);
    report_ = report;
    std::strncpy(message_, message, sizeof(message_) - 1);
    ended_ = true;
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    engine::wait(changed_, lock, [this] { return ended_; });
  }

  // After wait().
  const std::string& text() const { return text_; }
  const rc_generate_report& report() const { return report_; }
  const char* message() const { return message_; }

 private:
  HandleAccount::Slot slot_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::string text_;
  rc_generate_report report_ = RC_GENERATE_REPORT_INIT;
  char message_[1024] = "";
};

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;
using rc::api::need_pointer;

void rc_generate_options_init(rc_generate_options* options, size_t size) {
  rc::api::initialise_options(options, size);
}

void rc_generate_report_init(rc_generate_report* report, size_t size) {
  rc::api::initialise(report, size, rc_generate_report RC_GENERATE_REPORT_INIT);
}

void rc_event_init(rc_event* event, size_t size) {
  rc::api::initialise(event, size, rc_event RC_EVENT_INIT);
}

const char* rc_end_reason_name(rc_end_reason reason) {
  switch (reason) {
    case RC_END_STOP:
      return "stop";
    case RC_END_LENGTH:
      return "length";
    case RC_END_STOP_STRING:
      return "stop string";
    case RC_END_CANCELLED:
      return "cancelled";
    case RC_END_DEADLINE:
      return "deadline";
    case RC_END_CONTEXT:
      return "context";
    case RC_END_ERROR:
      return "error";
    case RC_END_TOOL_CALLS:
      return "tool calls";
    default:
      return "unknown reason";
  }
}

rc_status rc_generate_async(rc_session* session,
                            const rc_generate_options* options, rc_loop* loop,
                            rc_event_callback callback, void* user,
                            rc_request** request) {
  return guard([&] {
    rc::api::check_event_target({loop, callback, user}, request);
    const rc_session& handle = need(session, "session");
    rc::engine::RequestOptions checked =
        rc::api::request_options(options, *handle.file);
    // The session may be released as soon as its loop runs.
    const std::shared_ptr<rc::engine::Session> held = handle.session;
    rc::api::start_request(
        handle.account,
        [&](std::shared_ptr<rc::engine::Listener> listener) {
          return held->generate(std::move(checked), std::move(listener));
        },
        {loop, callback, user}, request);
  });
}

rc_status rc_generate(rc_session* session, const rc_generate_options* options,
                      char** text, size_t* length, rc_generate_report* report) {
  using rc::api::Collector;
  std::shared_ptr<Collector> collector;
  const rc_status status = guard([&] {
    need_pointer(text, "text");
    *text = nullptr;
    if (report != nullptr) {
      rc::api::check_struct_size(report->struct_size, "report");
    }
    const rc_session& handle = need(session, "session");
    const std::shared_ptr<rc::engine::Session> held = handle.session;
    rc::engine::RequestOptions checked =
        rc::api::request_options(options, *handle.file);
    checked.caller_waits = true;
    auto listener = std::make_shared<Collector>(handle.account);
    static_cast<void>(held->generate(std::move(checked), listener));
    listener->wait();
    collector = std::move(listener);
    *text = rc::api::return_text(collector->text()).release();
    if (length != nullptr) *length = collector->text().size();
    if (report != nullptr) {
      rc::api::write_report(report, collector->report(), "report");
    }
  });
  if (status != RC_OK || collector->report().status == RC_OK) return status;
  return rc::set_last_error(collector->report().status, collector->message());
}

rc_status rc_request_cancel(rc_request* request) {
  return guard([&] { need(request, "request").shared_from_this()->cancel(); });
}

rc_status rc_request_next(rc_request* request, int64_t timeout_ms,
                          rc_event* event) {
  return guard([&] {
    const auto held = need(request, "request").shared_from_this();
    need_pointer(event, "event");
    rc::api::check_struct_size(event->struct_size, "event");
    rc::api::write_report(event, held->next(timeout_ms), "event");
  });
}

rc_status rc_request_wait(rc_request* request, int64_t timeout_ms) {
  return guard(
      [&] { need(request, "request").shared_from_this()->wait(timeout_ms); });
}

rc_request* rc_request_retain(rc_request* request) {
  return rc::api::retain_handle(request, "request");
}

void rc_request_release(rc_request* request) {
  if (request == nullptr) return;
  const rc::CallerThread inside;
  namespace handles = rc::api::handles;
  const std::optional<size_t> left =
      handles::release(request, rc_request::kKind);
  if (!left.has_value()) {
    handles::report_refused(request, rc_request::kKind, "request");
  } else if (*left == 0) {
    request->forget();
  }
}
