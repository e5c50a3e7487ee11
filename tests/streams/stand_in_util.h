// Tests of a backend on the stand-in for the library of its driver.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runcible/base.h"

namespace rc::test {

// A stand-in, which the module loads in these tests unless the environment
// names another library.
class StandIn {
 public:
  // `variable` names the library for the module; names of its controls begin
  // with `prefix`.
  StandIn(std::string spec, const char* variable, const char* path,
          const char* prefix);

  const std::string& spec() const { return spec_; }
  // Whether it is what the module loads.
  bool is_used() const;

  // See streams/control.h.
  void fail_after(const char* function, long calls, int result) const;
  void fail_no_more() const { fail_after("", -1, 0); }
  // Calls so far.
  long calls() const { return number("calls"); }
  // Graphs that were launched.
  long graphs() const { return number("graphs"); }
  // Bytes that are allocated, on the device and pinned.
  long bytes() const { return number("bytes"); }

 private:
  void* control(const char* name) const;
  long number(const char* name) const;

  std::string spec_;
  std::string variable_;
  std::string path_;
  std::string prefix_;
  void* library_;
};

// To be the first line of a test that controls it.
#define RC_NEEDS_STAND_IN(stand_in)                               \
  if (!(stand_in).is_used()) {                                    \
    GTEST_SKIP() << "only software devices do as they are asked"; \
  }

// A way from opening a device to a result, as a text; or to the first failure,
// with its message.
struct Outcome {
  rc_status status = RC_OK;
  std::string text;
};
using Walk = Outcome(const std::string& spec);
// To a text of the model.
Outcome walk_to_text(const std::string& spec);
// To the numbers of a custom op that has nothing but a kernel in OpenCL C.
Outcome walk_to_custom_op(const std::string& spec);

// Each call of the stand-in on a walk fails once, with each of the results: the
// C ABI answers with a status and a message, nothing is left allocated, and the
// device opens again. `least`: that many calls, and failures, there are.
void expect_each_call_can_fail(const StandIn& stand_in, Walk* walk,
                               const std::vector<int>& results, long least);
// `function` fails for lack of memory.
void expect_lack_of_memory_is_told(const StandIn& stand_in,
                                   const char* function, int result);
// `function` fails, and the device is lost.
void expect_loss_is_a_status(const StandIn& stand_in, const char* function,
                             int result, const char* name);

// Handles next to those on other backends: all give the same text.
void expect_same_text_everywhere(const StandIn& stand_in);
// Steps of one text are the same launches each time. `tuning`: the variable.
void expect_steps_to_be_graphs(const StandIn& stand_in, const char* tuning);
// The second handle takes a KV cache, and shares the weights of the first.
void expect_weights_once(const StandIn& stand_in);

// What the command says in an environment.
struct Situation {
  const char* description;
  const char* variables;  // of the environment, as a shell takes them
  const char* expected;
};
void expect_situations(const StandIn& stand_in, const std::string& command,
                       const std::vector<Situation>& situations);

}  // namespace rc::test
