// Scenarios that together call every function of the C ABI, for walks in which
// each allocation fails in turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "api/api_util.h"
#include "temporary.h"

namespace rc::test {

// A function of the C ABI; noting its calls allocates nothing.
class CalledFunction {
 public:
  constexpr explicit CalledFunction(const char* name) : name_(name) {}
  void note() noexcept;
  // The names of the functions that have been called so far.
  static std::vector<std::string> names();

 private:
  const char* const name_;
  std::atomic<bool> noted_{false};
  const CalledFunction* next_ = nullptr;
};

// The function, whose call is noted: RC_CALL(rc_version)().
#define RC_CALL(function)                                              \
  (                                                                    \
      [] {                                                             \
        static constinit ::rc::test::CalledFunction called(#function); \
        called.note();                                                 \
      }(),                                                             \
      function)

// Ends a scenario at its first failure.
#define RC_TRY(call)                                           \
  do {                                                         \
    if (const rc_status rc_try_status = (call); rc_try_status) \
      return rc_try_status;                                    \
  } while (0)

using TensorHandle = std::unique_ptr<rc_tensor, Release<rc_tensor_release>>;

// Objects that exist before allocations fail, and must stay usable.
struct World {
  World();

  const TemporaryFolder folder;
  const TemporaryVariable config{"RUNCIBLE_CONFIG", path("config.toml")};
  const TemporaryVariable cache{"XDG_CACHE_HOME", path("cache")};
  Backend cpu;
  Backend reference;
  Model model;            // on cpu, of 64 tokens of context
  Model reference_model;  // the same file
  Tokenizer tokenizer;
  Session session;  // with a few tokens
  Loop loop;
  TensorHandle x;       // F32 [4, 32]
  TensorHandle y;       // F32 [4, 32]
  TensorHandle ones;    // F32 [32]
  TensorHandle blocks;  // Q8_0 [4, 32]
  TensorHandle ids;     // I32 [2]

  // Returns the path of a file in the folder.
  std::string path(const char* name) const {
    return (folder.path() / name).string();
  }
};

// The shape of the tensors that scenarios make.
inline constexpr int64_t kShape[] = {4, 32};

struct Scenario {
  const char* name;
  // Returns the first failure; gives everything back either way.
  rc_status (*run)(World& world);
  // Leaves out about n / thinning of n successive places.
  int64_t thinning = 1000;
  // Each run leaves memory behind that belongs to the process, such as a
  // registered backend.
  bool accumulates = false;
};

// For GoogleTest, which would print the bytes.
inline void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

std::vector<Scenario> configuration_scenarios();
std::vector<Scenario> backend_scenarios();
std::vector<Scenario> tensor_scenarios();
std::vector<Scenario> graph_scenarios();
std::vector<Scenario> file_scenarios();
std::vector<Scenario> model_scenarios();
std::vector<Scenario> session_scenarios();
std::vector<Scenario> text_scenarios();
std::vector<Scenario> measuring_scenarios();
std::vector<Scenario> fetch_scenarios();

std::vector<Scenario> all_scenarios();

// The end of an asynchronous function, received on a loop.
struct End {
  std::atomic<int> times{0};
  rc_status status = RC_OK;

  void receive(rc_status with) {
    status = with;
    ++times;
  }
};

// Dispatches a loop until the end is received; the status of the end.
rc_status await(rc_loop* loop, const End& end);

// The status with which an asynchronous function was accepted, or its end.
inline rc_status await(rc_status accepted, rc_loop* loop, const End& end) {
  return accepted == RC_OK ? await(loop, end) : accepted;
}

}  // namespace rc::test
