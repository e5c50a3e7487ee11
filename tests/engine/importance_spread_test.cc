// Importance of a model that is spread over two devices: memory of each of them
// counts.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "engine/evaluation/importance.h"
#include "engine_util.h"
#include "runtime/device_chain.h"
#include "runtime/wrapped_plugin.h"

namespace rc::engine::test {
namespace {

using rc::test::open_wrapped;
using rc::test::wrap_backend;

class NoLimit final : public compute::Account {
 public:
  void reserve(uint64_t) override {}
  void use(uint64_t) noexcept override {}
  void cancel(uint64_t) noexcept override {}
  void give_back(uint64_t) noexcept override {}
  void need_time() override {}
  void charge_work(const runtime::Device&, int64_t) noexcept override {}
};

TEST(ImportanceSpread, TheSecondDeviceMustHaveRoom) {
  const auto file = small_model("gemma2");
  wrap_backend("small", "cpu");
  rc::test::WrappedState& next = wrap_backend("large", "cpu");
  const runtime::DeviceChain chain(open_wrapped("small"), {"large"}, false);
  EngineOptions options;
  options.context_length = 128;
  options.cache_tokens = 512;
  options.max_rows = 32;
  const auto engine = Engine::load(file, chain, options, {});
  // One byte less than a step of sixteen rows takes, all on one device.
  EngineOptions step = options;
  step.context_length = step.cache_tokens = step.max_rows = 16;
  step.observes_products = true;
  options.memory_limit = plan(*file, chain, step).memory.total() - 1;

  const std::string text(200, 'a');
  int paid = 0;
  const auto measure = [&](const Engine& of, const EngineOptions& with) {
    return measure_importance(of, with, file, text, {.context = 16, .most = 2},
                              [&](uint64_t bytes) {
                                ++paid;
                                return std::make_shared<compute::Paid>(
                                    std::make_shared<NoLimit>(), bytes);
                              },
                              {});
  };
  next.free_memory = 1;
  try {
    measure(*engine, options);
    ADD_FAILURE() << "it was measured";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_DEVICE_MEMORY);
    EXPECT_NE(error.message().find("measuring importance of "),
              std::string::npos)
        << error.message();
    EXPECT_TRUE(error.message().ends_with(
        " bytes more on large:0, but only 1 may be used; ask for a shorter "
        "context"))
        << error.message();
  }
  EXPECT_EQ(paid, 0);

  next.free_memory = 0;  // which says nothing of it
  const Importance spread = measure(*engine, options);
  EngineOptions whole = options;
  whole.memory_limit = 0;
  const auto alone = Engine::load(file, open_device(), whole, {});
  const Importance expected = measure(*alone, whole);
  EXPECT_EQ(paid, 2);
  EXPECT_EQ(spread.tokens, 32);
  ASSERT_EQ(spread.data.tensors.size(), expected.data.tensors.size());
  ASSERT_FALSE(spread.data.tensors.empty());
  for (size_t i = 0; i < expected.data.tensors.size(); ++i) {
    EXPECT_EQ(spread.data.tensors[i].tensor, expected.data.tensors[i].tensor);
    EXPECT_EQ(spread.data.tensors[i].sums, expected.data.tensors[i].sums);
  }
}

}  // namespace
}  // namespace rc::engine::test
