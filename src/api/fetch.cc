#include "runcible/fetch.h"

#include "api/async_work.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/options.h"
#include "api/progress.h"
#include "api/returned_memory.h"
#include "hub/cache_list.h"
#include "hub/fetch.h"

namespace rc::api {
namespace {

constexpr rc_fetch_options kFetchDefaults = RC_FETCH_OPTIONS_INIT;
constexpr int32_t kMostConnections = 32;

// The arguments of the caller, checked and copied.
hub::FetchRequest fetch_request(const char* source,
                                const rc_fetch_options* given) {
  need_pointer(source, "source");
  const rc_fetch_options options =
      read_options(given, kFetchDefaults, "options");
  need_range(options.connections, 0, kMostConnections, "options->connections");
  hub::FetchRequest request;
  request.source = source;
  if (options.revision != nullptr) request.revision = options.revision;
  if (options.cache != nullptr) request.cache = options.cache;
  if (options.to != nullptr) request.to = options.to;
  if (options.connections > 0) {
    request.manner.connections = options.connections;
  }
  if (options.progress != nullptr) {
    request.progress =
        [progress = options.progress, user = options.progress_user](
            const std::string& file, uint64_t done, uint64_t total) {
          return goes_on(
              [&] { return progress(user, file.c_str(), done, total) != 0; });
        };
  }
  hub::check_source(request);
  return request;
}

class AsyncFetch final : public AsyncWork {
 public:
  AsyncFetch(hub::FetchRequest request, std::shared_ptr<engine::Loop> loop,
             rc_fetch_callback callback, void* user)
      : AsyncWork(std::move(loop), "fetching", "rc_model_fetch_async"),
        request_(std::move(request)),
        callback_(callback),
        user_(user) {
    request_.progress = [this, report = std::move(request_.progress)](
                            const std::string& file, uint64_t done,
                            uint64_t total) {
      return !stopped() && (!report || report(file, done, total));
    };
  }

 private:
  void work() override { path_ = hub::fetch(request_); }

  void deliver(rc_status status, const char* message) override {
    callback_(user_, status, message,
              status == RC_OK ? path_.c_str() : nullptr);
  }

  hub::FetchRequest request_;
  const rc_fetch_callback callback_;
  void* const user_;
  std::string path_;
};

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::need_pointer;

void rc_fetch_options_init(rc_fetch_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kFetchDefaults);
}

rc_status rc_model_fetch(const char* source, const rc_fetch_options* options,
                         char** path) {
  return guard([&] {
    need_pointer(path, "path");
    *path = nullptr;
    const rc::hub::FetchRequest request =
        rc::api::fetch_request(source, options);
    *path = rc::api::return_text(rc::hub::fetch(request)).release();
  });
}

rc_status rc_model_fetch_async(const char* source,
                               const rc_fetch_options* options, rc_loop* loop,
                               rc_fetch_callback callback, void* user) {
  using rc::api::AsyncFetch;
  return guard([&] {
    rc::hub::FetchRequest request = rc::api::fetch_request(source, options);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<AsyncFetch>(
        std::move(request), rc::api::loop_or_own(loop), callback, user));
  });
}

rc_status rc_cached_models(const char* cache, char** json) {
  return guard([&] {
    need_pointer(json, "json");
    *json = nullptr;
    const std::string text = rc::hub::cache_json(cache == nullptr ? "" : cache);
    *json = rc::api::return_text(text).release();
  });
}

rc_status rc_cached_model_remove(const char* source, const char* cache,
                                 size_t* freed) {
  return guard([&] {
    need_pointer(source, "source");
    if (freed != nullptr) *freed = 0;
    const uint64_t bytes =
        rc::hub::remove_from_cache(source, cache == nullptr ? "" : cache);
    if (freed != nullptr) *freed = static_cast<size_t>(bytes);
  });
}
