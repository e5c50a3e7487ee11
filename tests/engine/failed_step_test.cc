// A step that fails or is stopped loses nothing: the session goes on from where
// it was, whatever kinds of state its layers keep.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine_util.h"
#include "faulty_device.h"

namespace rc::engine::test {
namespace {

class FailedStep : public ::testing::TestWithParam<const char*> {
 protected:
  FailedStep() {
    EngineOptions options = small_options();
    options.max_rows = 16;
    engine_ = Engine::load(small_model(GetParam()), open_faulty_device(),
                           options, {});
    session_ = engine_->create_session({}, nullptr);
    for (size_t count : {70, 3, 25}) add(count);
    session_->decode(false);
  }
  ~FailedStep() override { fault_control().fault = Fault::kNone; }

  void add(size_t count) {
    const auto more = some_tokens(count, static_cast<uint32_t>(count));
    session_->append(more);
    tokens_.insert(tokens_.end(), more.begin(), more.end());
  }
  // Decodes, and compares with what a session gives that nothing happened to.
  void expect_sound() {
    session_->decode(false);
    const auto other = load(small_options(), "cpu", 1, GetParam())
                           ->create_session({}, nullptr);
    other->append(tokens_);
    other->decode(false);
    EXPECT_EQ(hash_logits(*session_), hash_logits(*other));
  }

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Session> session_;
  std::vector<TokenId> tokens_;
};

INSTANTIATE_TEST_SUITE_P(Models, FailedStep,
                         ::testing::Values("llama2", "gemma2", "granitehybrid"),
                         [](const auto& info) { return info.param; });

TEST_P(FailedStep, DoesNotChangeTheSession) {
  for (const Fault fault : {Fault::kError, Fault::kErrorAtEnd}) {
    for (const size_t count : {1, 5, 40}) {
      add(count);
      fault_control().fault = fault;
      for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(session_->decode(false), Error);
      }
      fault_control().fault = Fault::kNone;
      expect_sound();
    }
  }
}

TEST_P(FailedStep, OfAGenerationKeepsItsPrompt) {
  const std::vector<TokenId> prompt = some_tokens(20, 77);
  fault_control().fault = Fault::kErrorAtEnd;
  EXPECT_EQ(generate(*session_, greedy(prompt, 5)).report.status, RC_E_DEVICE);
  fault_control().fault = Fault::kNone;
  tokens_.insert(tokens_.end(), prompt.begin(), prompt.end());
  EXPECT_EQ(session_->tokens(), tokens_);
  expect_sound();
}

}  // namespace
}  // namespace rc::engine::test
