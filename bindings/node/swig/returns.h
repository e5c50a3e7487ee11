// References to JavaScript objects that other threads release. Included by the
// wrapper alone.
#ifndef RUNCIBLE_NODE_RETURNS_H
#define RUNCIBLE_NODE_RETURNS_H

#include <napi.h>

#include <mutex>

// The queue of one environment, for any thread. It keeps no event loop alive.
class runcible_returns {
 public:
  explicit runcible_returns(napi_env env) {
    if (napi_create_threadsafe_function(
            env, nullptr, nullptr, Napi::String::New(env, "runcible returns"),
            0, 1, nullptr, nullptr, nullptr, on_returned, &queue_) != napi_ok ||
        napi_unref_threadsafe_function(env, queue_) != napi_ok) {
      throw Napi::Error::New(env, "no queue for references to release");
    }
  }
  runcible_returns(const runcible_returns&) = delete;
  runcible_returns& operator=(const runcible_returns&) = delete;

  void give_back(napi_ref reference) {
    const std::lock_guard lock(mutex_);
    // An environment that has ended has released all references.
    if (queue_ == nullptr) return;
    napi_call_threadsafe_function(queue_, reference, napi_tsfn_nonblocking);
  }

  // Called when the environment ends.
  void leave() {
    const std::lock_guard lock(mutex_);
    if (queue_ == nullptr) return;
    napi_release_threadsafe_function(queue_, napi_tsfn_abort);
    queue_ = nullptr;
  }

 private:
  static void on_returned(napi_env env, napi_value, void*, void* reference) {
    if (env == nullptr) return;
    napi_delete_reference(env, static_cast<napi_ref>(reference));
  }

  std::mutex mutex_;
  napi_threadsafe_function queue_ = nullptr;
};

#endif  // RUNCIBLE_NODE_RETURNS_H
