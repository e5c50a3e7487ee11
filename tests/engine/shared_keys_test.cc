// Layers that attend to the keys and values of earlier ones, on several
// devices: keys stay where they are stored, wherever the model is cut.
#include <gtest/gtest.h>

#include "engine_util.h"
#include "runtime/device_chain.h"
#include "runtime/wrapped_plugin.h"

namespace rc::engine::test {
namespace {

using rc::test::open_wrapped;
using rc::test::wrap_backend;
using runtime::DeviceChain;

uint64_t hash_of_run(Engine& engine) {
  const auto session = engine.create_session({}, nullptr);
  session->append(some_tokens(50));
  session->decode(false);
  session->append(some_tokens(20, 7));
  session->decode(false);
  return hash_logits(*session);
}

class SharedKeys : public ::testing::TestWithParam<const char*> {};

TEST_P(SharedKeys, MayBeReadFromAnotherDevice) {
  const auto file = small_model(GetParam());
  EngineOptions options;
  options.context_length = 128;
  options.cache_tokens = 512;
  options.max_rows = 32;
  const uint64_t expected =
      hash_of_run(*Engine::load(file, open_device(), options, {}));
  auto& state = wrap_backend("small", "cpu");
  const DeviceChain chain(open_wrapped("small"), {"cpu"}, false);
  const uint64_t all = plan(*file, chain, options).memory.total();
  int spread = 0;
  for (uint64_t eighths = 2; eighths < 8; ++eighths) {
    options.memory_limit = all / 8 * eighths;
    const auto engine = Engine::load(file, chain, options, {});
    const model::DeviceMemory& first = engine->memory().devices[0];
    if (first.layers > 0 && engine->memory().devices.size() > 1) ++spread;
    // As planned.
    EXPECT_EQ(state.buffers, first.cache);
    EXPECT_EQ(hash_of_run(*engine), expected) << eighths;
  }
  EXPECT_GT(spread, 1);
}

INSTANTIATE_TEST_SUITE_P(Models, SharedKeys,
                         ::testing::Values("gemma4", "gemma3n"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rc::engine::test
