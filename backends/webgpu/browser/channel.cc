#include "webgpu/browser/channel.h"

#include <emscripten/em_js.h>
#include <emscripten/emscripten.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.h"

namespace rc::webgpu {
namespace {

constexpr uint32_t kWords = 1 << 18;
// A request that would go beyond the end of the ring begins at its beginning;
// what is left there is one of this number.
constexpr uint32_t kNothing = 0xFFFF;
constexpr int64_t kMoment = 10'000'000;  // nanoseconds

constexpr char kRequestNames[] =
#define RC_WEBGPU_REQUEST(name) #name " "
    RC_WEBGPU_REQUESTS(RC_WEBGPU_REQUEST);
#undef RC_WEBGPU_REQUEST

// Where src/web/in_module.js says that the files of this backend are.
constexpr const char* kScriptVariable = "RUNCIBLE_WEBGPU_LIBRARY";

// Until the word is another, or for as long; -1: without a limit.
void wait_while(const std::atomic<uint32_t>& word, uint32_t value,
                int64_t nanoseconds = -1) {
  auto* place = const_cast<int*>(reinterpret_cast<const volatile int*>(&word));
  __builtin_wasm_memory_atomic_wait32(const_cast<int*>(place),
                                      static_cast<int>(value), nanoseconds);
}

void wake(const std::atomic<uint32_t>& word) {
  auto* place = reinterpret_cast<const volatile int*>(&word);
  __builtin_wasm_memory_atomic_notify(
      const_cast<int*>(const_cast<const int*>(place)), UINT32_MAX);
}

thread_local uint32_t seen_answers = 0;

}  // namespace

// webgpu.mjs knows the places.
struct Channel::Shared {
  std::atomic<uint32_t> written = 0;   // words, by us
  std::atomic<uint32_t> taken = 0;     // words, by JavaScript
  std::atomic<uint32_t> answered = 0;  // counts answers, and trouble
  uint32_t words = kWords;
  Answer started;  // its message is the browser, or why it has not
  uint32_t ring[kWords];

  static_assert(sizeof(Answer) == 288 * sizeof(uint32_t));
  static_assert(sizeof(Trouble) == 516 * sizeof(uint32_t));
};

}  // namespace rc::webgpu

EM_JS(int, rc_webgpu_lacks, (), {
  if (typeof navigator != "object" || !navigator.gpu) return 1;
  return typeof Atomics.waitAsync == "function" ? 0 : 2;
});

// The rest of what JavaScript does is there from now on. Where that cannot be
// had, the answer says so: a status, and a message from its 33rd word on.
EM_JS(void, rc_webgpu_serve,
      (void* shared, const char* script, const char* names, void* started), {
        import(UTF8ToString(script))
            .then((library) =>
              library.serve(wasmMemory, shared, started, UTF8ToString(names)))
            .catch((error) => {
              stringToUTF8(String(error), started + 128, 1024);
        const words = new Int32Array(wasmMemory.buffer);
        Atomics.store(words, started >> 2, 2);
        Atomics.notify(words, started >> 2);
      });
});

namespace {

struct Start {
  void* shared;
  const char* script;
  const char* names;
  void* started;
};

// Stays in the event loop.
void* serve(void* start_) {
  const Start start = *static_cast<Start*>(start_);
  rc_webgpu_serve(start.shared, start.script, start.names, start.started);
  emscripten_exit_with_live_runtime();
  return nullptr;
}

}  // namespace

namespace rc::webgpu {

Channel& Channel::instance() {
  // A failure is tried again at the next call.
  static auto* const made = new Channel;
  return *made;
}

Channel::Channel() {
  switch (rc_webgpu_lacks()) {
    case 1:
      fail(RC_E_BACKEND_UNAVAILABLE,
           "there is no WebGPU (navigator.gpu) here; it takes a page by https "
           "or from localhost, and Chromium 113, Safari 26, Firefox 145 or a "
           "later one, where WebGPU may have to be enabled");
    case 2:
      fail(RC_E_BACKEND_UNAVAILABLE,
           "this browser has no Atomics.waitAsync; take a later one");
  }
  const char* script = std::getenv(kScriptVariable);
  if (script == nullptr) {
    fail(RC_E_BACKEND_UNAVAILABLE, kScriptVariable,
         " does not say where runcible-webgpu.mjs is");
  }
  auto shared = std::make_unique<Shared>();
  Start start = {shared.get(), script, kRequestNames, &shared->started};
  pthread_t thread;
  if (pthread_create(&thread, nullptr, serve, &start) != 0) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "there is no thread for WebGPU; begin with more workers");
  }
  pthread_detach(thread);
  // Also keeps `start` until it has been read.
  wait_while(shared->started.status, Answer::kPending);
  if (shared->started.status.load() != Answer::kSuccess) {
    fail(RC_E_BACKEND_UNAVAILABLE, script,
         " cannot be loaded: ", shared->started.message,
         "; it belongs to the files of the package");
  }
  browser_ = shared->started.message;
  shared_ = shared.release();
}

void Channel::word(uint32_t value) {
  shared_->ring[written_ % kWords] = value;
  ++written_;
}

void Channel::make_room(uint32_t words) {
  for (;;) {
    const uint32_t taken = shared_->taken.load();
    if (written_ + words - taken <= kWords) return;
    flush();
    wait_while(shared_->taken, taken);
  }
}

void Channel::put(Request request, std::span<const uint32_t> words) {
  const auto count = static_cast<uint32_t>(words.size());
  if (count >= kWords / 4) {
    fail(RC_E_INTERNAL, "a request to the browser of ", count, " words");
  }
  const uint32_t left = kWords - written_ % kWords;
  if (left < count + 1) {
    make_room(left);
    word(kNothing | (left - 1) << 16);
    written_ += left - 1;
  }
  make_room(count + 1);
  word(static_cast<uint32_t>(request) | count << 16);
  for (const uint32_t value : words) word(value);
  shared_->written.store(written_);
}

void Channel::flush() { wake(shared_->written); }

void Channel::wait_until_taken() {
  flush();
  for (;;) {
    const uint32_t taken = shared_->taken.load();
    if (taken == written_) return;
    wait_while(shared_->taken, taken);
  }
}

void Channel::ask(Request request, std::initializer_list<uint32_t> words,
                  std::function<void(const Answer&)> then) {
  Asked asked = {std::make_unique<Answer>(), std::move(then)};
  std::vector<uint32_t> all = {address(asked.answer.get())};
  all.insert(all.end(), words);
  asked_.push_back(std::move(asked));
  put(request, all);
  flush();
}

std::unique_ptr<Answer> Channel::ask(Request request,
                                     std::initializer_list<uint32_t> words) {
  auto answer = std::make_unique<Answer>();
  std::vector<uint32_t> all = {address(answer.get())};
  all.insert(all.end(), words);
  put(request, all);
  flush();
  wait_while(answer->status, Answer::kPending);
  return answer;
}

void Channel::process() {
  seen_answers = shared_->answered.load();
  flush();
  for (auto at = asked_.begin(); at != asked_.end();) {
    if (at->answer->status.load() == Answer::kPending) {
      ++at;
      continue;
    }
    const Asked asked = std::move(*at);
    at = asked_.erase(at);
    asked.then(*asked.answer);
  }
}

void Channel::wait_for_answers() const {
  wait_while(shared_->answered, seen_answers, kMoment);
}

}  // namespace rc::webgpu
