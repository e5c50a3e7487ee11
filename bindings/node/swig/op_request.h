// Ops that a thread of the library sends to a JavaScript thread and waits for;
// included by the wrapper alone.
#ifndef RUNCIBLE_NODE_OP_REQUEST_H
#define RUNCIBLE_NODE_OP_REQUEST_H

#include <napi.h>
#include <runcible/op_backend.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// A request that a thread waits for: a health check, or an op. JavaScript sees
// the op as views of the library's memory, which are detached at the end, so
// that views that are kept are empty.
class runcible_op_request {
 public:
  // nullptr: a health check.
  explicit runcible_op_request(const rc_op_call* call) : call_(call) {}
  runcible_op_request(const runcible_op_request&) = delete;
  runcible_op_request& operator=(const runcible_op_request&) = delete;
  ~runcible_op_request() {
    // The environment of these buffers may have ended.
    for (auto& buffer : buffers_) buffer.SuppressDestruct();
  }

  // Returns the function's argument. Call on the JavaScript thread. Throws.
  Napi::Value begin(Napi::Env env) {
    if (call_ == nullptr) return env.Null();
    Napi::Object object = Napi::Object::New(env);
    object["op"] = Napi::String::New(env, call_->name);
    object["params"] = Napi::String::New(env, call_->params_json);
    object["inputs"] = list(env, call_->inputs, call_->input_count);
    object["outputs"] = list(env, call_->outputs, call_->output_count);
    return object;
  }

  // Ends the request on the JavaScript thread.
  void end_here(Napi::Env env, rc_status status, std::string text) {
    const Napi::HandleScope scope(env);
    for (auto& buffer : buffers_) {
      napi_detach_arraybuffer(env, buffer.Value());
    }
    buffers_.clear();
    end(status, std::move(text));
  }

  // Ends it on any thread, if JavaScript has not begun or does no more.
  void end(rc_status status, std::string text) {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    status_ = status;
    text_ = std::move(text);
    over_ = true;
    changed_.notify_all();
  }

  // Waits until it is over; returns false if it is not over after that time.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return over_; });
  }
  bool over() {
    const std::lock_guard lock(mutex_);
    return over_;
  }
  // Returns whether the caller must call the function, which happens once.
  bool claim() { return !claimed_.exchange(true); }

  // Valid once it is over.
  rc_status status() const { return status_; }
  const std::string& text() const { return text_; }

 private:
  Napi::Value list(Napi::Env env, const rc_op_value* const* values,
                   size_t count) {
    Napi::Array array = Napi::Array::New(env, count);
    for (uint32_t i = 0; i < count; ++i) {
      array[i] = values[i] == nullptr ? env.Null() : value(env, *values[i]);
    }
    return array;
  }

  Napi::Value value(Napi::Env env, const rc_op_value& given) {
    const auto number = [&](auto count) {
      return Napi::Number::New(env, static_cast<double>(count));
    };
    Napi::Array shape = Napi::Array::New(env, static_cast<size_t>(given.rank));
    for (int32_t i = 0; i < given.rank; ++i) {
      shape[static_cast<uint32_t>(i)] = number(given.shape[i]);
    }
    Napi::Object object = Napi::Object::New(env);
    object["dtype"] = number(given.dtype);
    object["shape"] = shape;
    object["weight"] = number(given.weight);
    object["memory"] = memory(env, given);
    object["bytes"] = number(given.bytes);
    return object;
  }

  // Values that share bytes start at the same byte, and share the buffer.
  Napi::Value memory(Napi::Env env, const rc_op_value& given) {
    if (given.bytes == 0) return Napi::ArrayBuffer::New(env, 0);
    for (auto& made : buffers_) {
      Napi::ArrayBuffer buffer = made.Value();
      if (buffer.Data() == given.data && buffer.ByteLength() >= given.bytes) {
        return buffer;
      }
    }
    const auto buffer = Napi::ArrayBuffer::New(
        env, given.data, static_cast<size_t>(given.bytes));
    buffers_.push_back(Napi::Reference<Napi::ArrayBuffer>::New(buffer, 1));
    return buffer;
  }

  const rc_op_call* const call_;
  std::vector<Napi::Reference<Napi::ArrayBuffer>> buffers_;  // JavaScript's
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // no thread uses the call any more
  std::atomic<bool> claimed_{false};
  rc_status status_ = RC_E_DEVICE_LOST;
  std::string text_;
};

// A JavaScript thread, and since when it has been in a call of the library,
// which may wait for an op that only this thread can compute.
class runcible_js_thread {
 public:
  using clock = std::chrono::steady_clock;
  using request = std::shared_ptr<runcible_op_request>;

  static const std::shared_ptr<runcible_js_thread>& here() {
    static thread_local const auto made =
        std::make_shared<runcible_js_thread>();
    return made;
  }
  void enter() {
    if (depth_++ == 0) since_.store(clock::now().time_since_epoch().count());
  }
  // Detaches the memory of abandoned requests before JavaScript continues.
  void leave() {
    if (--depth_ > 0) return;
    since_.store(0);
    std::vector<std::pair<napi_env, request>> given_up;
    {
      const std::lock_guard lock(mutex_);
      given_up.swap(given_up_);
    }
    for (auto& [env, asked] : given_up) asked->end_here(env, RC_E_BUSY, "");
  }
  // Offers work that another thread needs done here, until it is withdrawn. A
  // JavaScript thread that waits by short calls does not run its event loop: it
  // takes offers between them.
  void offer(const request& asked, std::function<void()> run) {
    const std::lock_guard lock(mutex_);
    offered_.push_back({asked, std::move(run)});
    changed_.notify_all();
  }
  void withdraw(const request& asked) {
    const std::lock_guard lock(mutex_);
    offered_.remove_if([&](const auto& each) { return each.first == asked; });
  }
  // Runs offers on the thread itself; returns whether there were any.
  bool serve() {
    bool any = false;
    for (;; any = true) {
      std::function<void()> run;
      {
        const std::lock_guard lock(mutex_);
        if (offered_.empty()) return any;
        run = std::move(offered_.front().second);
        offered_.pop_front();
      }
      // Meanwhile it runs JavaScript, and waits for nothing.
      const int depth = std::exchange(depth_, 0);
      since_.store(0);
      run();
      depth_ = depth;
      if (depth > 0) since_.store(clock::now().time_since_epoch().count());
    }
  }

  // Called on the thread itself: runs a call on another thread, and meanwhile
  // the offers that the call makes. It must not throw.
  template <class Call>
  void run_serving(const Call& call) {
    bool over = false;
    std::thread other([&] {
      call();
      const std::lock_guard lock(mutex_);
      over = true;
      changed_.notify_all();
    });
    for (;;) {
      serve();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return over || !offered_.empty(); });
      if (over) break;
    }
    other.join();
  }
  // The number of this thread's functions that ops may call.
  std::atomic<int>& functions() { return functions_; }

  // Returns whether the thread has been in one call for `time`, and since
  // `then`; if so, the request has been abandoned.
  bool gives_up(clock::duration time, clock::time_point then, napi_env env,
                const request& asked, const char* text) {
    const std::lock_guard lock(mutex_);
    const int64_t since = since_.load();
    if (since == 0) return false;
    const clock::time_point from{clock::duration(since)};
    if (clock::now() - std::max(from, then) < time) return false;
    // Done before the thread can leave, which waits for the lock.
    given_up_.push_back({env, asked});
    asked->end(RC_E_BUSY, text);
    return true;
  }

 private:
  std::atomic<int64_t> since_{0};
  std::atomic<int> functions_{0};
  int depth_ = 0;  // of calls within functions that calls have called
  std::mutex mutex_;
  std::condition_variable changed_;  // offered_, or that a call is over
  std::vector<std::pair<napi_env, request>> given_up_;
  std::list<std::pair<request, std::function<void()>>> offered_;
};

class runcible_blocking_call {
 public:
  runcible_blocking_call() { runcible_js_thread::here()->enter(); }
  ~runcible_blocking_call() { runcible_js_thread::here()->leave(); }
  runcible_blocking_call(const runcible_blocking_call&) = delete;
  runcible_blocking_call& operator=(const runcible_blocking_call&) = delete;
};

#endif  // RUNCIBLE_NODE_OP_REQUEST_H
