#include "api/request.h"

#include <cstring>

#include "base/log.h"
#include "base/time_limit.h"
#include "engine/turns.h"

namespace {

// Waits until the condition holds; false if the time (negative: no limit) was
// over before.
template <class Condition>
bool wait_for(std::condition_variable& changed,
              std::unique_lock<std::mutex>& lock, int64_t timeout_ms,
              Condition condition) {
  if (timeout_ms < 0) {
    rc::engine::wait(changed, lock, condition);
    return true;
  }
  return rc::engine::wait_until(changed, lock, rc::time_after(timeout_ms),
                                condition);
}

}  // namespace

// An event on its way. On a loop it keeps the request; waiting to be pulled it
// does not, for the request owns it then.
class rc_request::Event : public rc::engine::Delivery {
 public:
  void run() override { keep_->deliver(describe(*keep_)); }
  // The content of the event; the result points into it.
  virtual rc_event describe(rc_request& request) = 0;

  std::shared_ptr<rc_request> keep_;
};

class rc_request::PieceEvent final : public Event {
 public:
  explicit PieceEvent(rc::engine::Piece piece) : piece_(std::move(piece)) {
    logprobs_.reserve(piece_.logprobs.size());
    for (const auto& entry : piece_.logprobs) {
      logprobs_.push_back(entry.logprob);
    }
    top_tokens_.reserve(piece_.top_logprobs.size());
    top_logprobs_.reserve(piece_.top_logprobs.size());
    for (const auto& entry : piece_.top_logprobs) {
      top_tokens_.push_back(entry.token);
      top_logprobs_.push_back(entry.logprob);
    }
  }

  rc_event describe(rc_request& request) override {
    rc_event event = RC_EVENT_INIT;
    event.type = piece_.type;
    event.request = &request;
    event.text = piece_.text.data();
    event.text_length = piece_.text.size();
    event.tokens = piece_.tokens.data();
    event.token_count = piece_.tokens.size();
    event.call = piece_.call;
    if (piece_.call >= 0 && piece_.type != RC_EVENT_MALFORMED_CALL) {
      event.call_name = piece_.name.c_str();
      if (!piece_.id.empty()) event.call_id = piece_.id.c_str();
    }
    if (!logprobs_.empty()) {
      event.logprobs = logprobs_.data();
      if (!top_tokens_.empty()) {
        event.top_tokens = top_tokens_.data();
        event.top_logprobs = top_logprobs_.data();
        event.top_count = top_tokens_.size() / logprobs_.size();
      }
    }
    event.message = "";
    return event;
  }

 private:
  const rc::engine::Piece piece_;
  std::vector<float> logprobs_;
  std::vector<int32_t> top_tokens_;
  std::vector<float> top_logprobs_;
};

class rc_request::EndEvent final : public Event {
 public:
  ~EndEvent() override {
    // Dropped undelivered: only this gives the request's own handle back.
    if (keep_ != nullptr && !delivered_) keep_->leave_loop();
  }

  void set(const rc_generate_report& report, const char* message) noexcept {
    report_ = report;
    report_.struct_size = sizeof(report_);
    std::strncpy(message_, message, sizeof(message_) - 1);
  }

  void run() override {
    Event::run();
    delivered_ = true;
    keep_->leave_loop();
  }

  rc_event describe(rc_request& request) override {
    rc_event event = RC_EVENT_INIT;
    event.type = RC_EVENT_END;
    event.request = &request;
    event.text = "";
    event.message = message_;
    event.report = &report_;
    if (*request.failure_ != '\0') {
      event.message = request.failure_;
      report_.reason = RC_END_ERROR;
      report_.status = RC_E_INTERNAL;
    }
    return event;
  }

 private:
  rc_generate_report report_ = RC_GENERATE_REPORT_INIT;
  char message_[1024] = "";
  bool delivered_ = false;
};

rc_request::rc_request(std::shared_ptr<rc::api::HandleAccount> account,
                       std::shared_ptr<rc::engine::Loop> loop,
                       rc_event_callback callback, void* user)
    : slot_(std::move(account)),
      loop_(std::move(loop)),
      callback_(callback),
      user_(user),
      end_event_(std::make_unique<EndEvent>()) {}

rc_request::~rc_request() = default;

void rc_request::start(const std::shared_ptr<rc_request>& request,
                       const Generate& generate, rc_request** handle) {
  // The handle is made and given out first: events may run on the loop's thread
  // as soon as the engine has the request.
  rc::api::handles::add(request.get(), kKind);
  request->self_ = request;
  // With a callback the first reference is the request's own.
  const bool own = request->callback_ != nullptr;
  if (own && handle != nullptr) {
    rc::api::handles::retain(request.get(), kKind);
  }
  if (handle != nullptr) *handle = request.get();
  bool entered = false;
  try {
    if (request->loop_ != nullptr) {
      request->loop_->enter(request);
      entered = true;
    }
    std::shared_ptr<rc::engine::Request> generation = generate(request);
    bool cancelled = false;
    {
      std::lock_guard lock(request->mutex_);
      cancelled = request->cancelled_;
      // After the end it would keep the two alive through each other.
      if (!request->ended_) request->generation_ = generation;
    }
    if (cancelled) generation->cancel();
  } catch (...) {
    if (handle != nullptr) *handle = nullptr;
    if (entered) request->loop_->leave(request.get());
    while (rc::api::handles::release(request.get(), kKind).value_or(0) > 0) {
    }
    request->self_.reset();
    throw;
  }
}

void rc_request::forget() noexcept {
  std::shared_ptr<rc_request> self;
  {
    std::lock_guard lock(mutex_);
    self.swap(self_);
  }
  // Its events could not be delivered any more.
  if (callback_ == nullptr) cancel();
}

void rc_request::piece(rc::engine::Piece piece) {
  post(std::make_unique<PieceEvent>(std::move(piece)));
}

void rc_request::end(const rc_generate_report& report,
                     const char* message) noexcept {
  // The account may start the next request from the end's callback.
  slot_.release();
  std::shared_ptr<rc::engine::Request> generation;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    generation.swap(generation_);
  }
  end_event_->set(report, message);
  post(std::move(end_event_));
  changed_.notify_all();
}

void rc_request::cancel() noexcept {
  std::shared_ptr<rc::engine::Request> generation;
  {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    generation = generation_;
  }
  if (generation != nullptr) generation->cancel();
}

void rc_request::post(std::unique_ptr<Event> event) noexcept {
  if (loop_ != nullptr) {
    event->keep_ = shared_from_this();
    loop_->post(std::move(event));
    return;
  }
  events_.push(std::move(event));
  // Between a puller's look and its sleep nothing may slip through.
  { std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

void rc_request::deliver(const rc_event& event) {
  const bool ends = event.type == RC_EVENT_END;
  // Events that came before the engine received the failure are dropped.
  if (*failure_ != '\0' && !ends) return;
  rc::call_out(
      "the event callback of the request", [&] { callback_(user_, &event); },
      [&](const char* message) {
        if (ends) {
          rc::log(RC_LOG_ERROR, message, "; that was the request's end");
          return;
        }
        std::strncpy(failure_, message, sizeof(failure_) - 1);
        cancel();
      });
}

void rc_request::leave_loop() noexcept {
  loop_->leave(this);
  const std::optional<size_t> left = rc::api::handles::release(this, kKind);
  if (left.has_value() && *left == 0) forget();
}

rc_event rc_request::next(int64_t timeout_ms) {
  if (callback_ != nullptr) {
    rc::fail(RC_E_INVALID_ARGUMENT,
             "request: its events go to its callback, none can be pulled");
  }
  if (pulling_.exchange(true)) {
    rc::fail(RC_E_BUSY, "request: another thread waits for its next event");
  }
  struct Pulling {
    std::atomic<bool>& flag;
    ~Pulling() { flag.store(false); }
  } const pulling{pulling_};
  if (end_pulled_) {
    rc::fail(RC_E_CLOSED, "request: its end event was given before");
  }
  {
    std::unique_lock lock(mutex_);
    if (!wait_for(changed_, lock, timeout_ms,
                  [this] { return !events_.empty(); })) {
      rc::fail(RC_E_TIMEOUT, "no event came within ", timeout_ms, " ms");
    }
  }
  events_.fetch();
  current_ = events_.next();
  const rc_event event = static_cast<Event&>(*current_).describe(*this);
  end_pulled_ = event.type == RC_EVENT_END;
  return event;
}

void rc_request::wait(int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  if (!wait_for(changed_, lock, timeout_ms, [this] { return ended_; })) {
    rc::fail(RC_E_TIMEOUT, "the request did not end within ", timeout_ms,
             " ms");
  }
}
