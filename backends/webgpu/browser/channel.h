// The way to WebGPU in a browser. Its objects belong to one thread, which goes
// back to the event loop of JavaScript to learn of results, and so can
// wait for nothing; an engine's threads wait, and have no event loop. So the
// driver has a dedicated thread, which runs webgpu.mjs: requests go there
// through a ring of words in memory that both share, in their order, and what a
// request asks for is written where it says (Atomics.waitAsync there, the
// instructions of WebAssembly that wait here).
//
// Threads: callers hold the lock of library.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <list>
#include <memory>
#include <span>
#include <string>

namespace rc::webgpu {

// The requests, each a function of webgpu.mjs of the same name, which documents
// the words that follow.
#define RC_WEBGPU_REQUESTS(REQUEST) \
  REQUEST(adapter)                  \
  REQUEST(device)                   \
  REQUEST(destroy_device)           \
  REQUEST(release)                  \
  REQUEST(buffer)                   \
  REQUEST(group_layout)             \
  REQUEST(group)                    \
  REQUEST(layout)                   \
  REQUEST(pipeline)                 \
  REQUEST(encoder)                  \
  REQUEST(copy)                     \
  REQUEST(clear)                    \
  REQUEST(pass)                     \
  REQUEST(set_pipeline)             \
  REQUEST(set_group)                \
  REQUEST(dispatch)                 \
  REQUEST(end_pass)                 \
  REQUEST(submit)                   \
  REQUEST(write)                    \
  REQUEST(write_words)              \
  REQUEST(done)                     \
  REQUEST(read)                     \
  REQUEST(fetch_kernels)            \
  REQUEST(take_kernels)

enum class Request : uint32_t {
#define RC_WEBGPU_REQUEST(name) k_##name,
  RC_WEBGPU_REQUESTS(RC_WEBGPU_REQUEST)
#undef RC_WEBGPU_REQUEST
};

// The answer that JavaScript writes; webgpu.mjs knows the places.
struct Answer {
  static constexpr uint32_t kPending = 0;
  static constexpr uint32_t kSuccess = 1;
  static constexpr uint32_t kFailure = 2;
  static constexpr uint32_t kOutOfMemory = 3;

  std::atomic<uint32_t> status = kPending;  // written last
  uint32_t values[31] = {};
  char message[1024] = {};  // ends with a zero
};

// A failure of a device outside of requests that are answered.
struct Trouble {
  // JavaScript writes where there is a zero, and then a one.
  std::atomic<uint32_t> failed = 0;
  std::atomic<uint32_t> lost = 0;
  uint32_t out_of_memory = 0;
  uint32_t unused = 0;
  char failure[1024] = {};
  char loss[1024] = {};
};

inline uint32_t address(const volatile void* of) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(of));
}

class Channel {
 public:
  // Of the process, whose thread begins with the first call. Throws
  // RC_E_BACKEND_UNAVAILABLE where there is no WebGPU, or no thread.
  static Channel& instance();

  // Adds a request.
  void put(Request request, std::span<const uint32_t> words);
  void put(Request request, std::initializer_list<uint32_t> words) {
    put(request, std::span(words.begin(), words.size()));
  }
  // Has JavaScript look at what was put.
  void flush();
  // Until what was put has been taken, so that memory that it names is free.
  void wait_until_taken();

  // A request whose first word is where the answer goes. The function is called
  // with it by `process`.
  void ask(Request request, std::initializer_list<uint32_t> words,
           std::function<void(const Answer&)> then);
  // The same, waited for.
  std::unique_ptr<Answer> ask(Request request,
                              std::initializer_list<uint32_t> words);

  // Calls the functions whose answers are there.
  void process();
  // Of this thread, until there are answers that its last call of `process` has
  // not seen, or a moment has passed. Not under the lock.
  void wait_for_answers() const;

  // A number for an object of JavaScript's.
  uint32_t new_object() { return ++last_object_; }

  // "Chrome 156.0.0.0".
  const std::string& browser() const { return browser_; }

 private:
  struct Shared;
  struct Asked {
    std::unique_ptr<Answer> answer;
    std::function<void(const Answer&)> then;
  };

  Channel();
  void make_room(uint32_t words);
  void word(uint32_t value);

  Shared* shared_;  // never freed: the thread goes on
  uint32_t written_ = 0;
  uint32_t last_object_ = 0;
  std::list<Asked> asked_;
  std::string browser_;
};

}  // namespace rc::webgpu
