// Loading and planning: defaults, limits, sharing.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "engine_util.h"
#include "expect_error.h"
#include "faulty_device.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::engine::test {
namespace {

uint64_t page_bytes(const model::ModelFile& file) {
  return file.page_bytes({}, model::LayerState::Kind::kPages);
}

TEST(Plan, DefaultsFollowTheModel) {
  const auto file = small_model();
  const auto device = open_device();
  const int64_t trained = file->hyper_parameters().context_length;
  const Plan plan = engine::plan(*file, device, {});
  EXPECT_EQ(plan.context_length, trained);
  EXPECT_EQ(plan.cache_tokens, 64 * trained);  // far less than 256 MiB
  EXPECT_EQ(plan.largest_context, trained);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.memory.cache,
            page_bytes(*file) * static_cast<uint64_t>(plan.cache_tokens / 32));
}

// Sequences longer than the top-k of an indexer are not supported.
TEST(Plan, ContextIsLimitedToTheTopKOfAnIndexer) {
  const auto file = small_model("deepseek32");
  const auto device = open_device();
  EngineOptions options;
  EXPECT_EQ(engine::plan(*file, device, options).context_length, 64);
  options.context_length = 64;
  EXPECT_TRUE(engine::plan(*file, device, options).fits);
  options.context_length = 65;
  rc::test::expect_error_with(RC_E_UNSUPPORTED,
                              {"context_length is 65", "take at most 64"},
                              [&] { engine::plan(*file, device, options); });
}

TEST(Plan, IsExactUnderAMemoryLimit) {
  const auto file = small_model();
  const auto device = open_device();
  EngineOptions options;
  options.context_length = 32;
  options.cache_tokens = 32;
  const model::MemoryPlan one = engine::plan(*file, device, options).memory;
  const uint64_t page = page_bytes(*file);

  options = EngineOptions();
  options.memory_limit = one.total() + page;
  const Plan two_pages = engine::plan(*file, device, options);
  EXPECT_EQ(two_pages.available, options.memory_limit);
  EXPECT_EQ(two_pages.context_length, 64);
  EXPECT_EQ(two_pages.cache_tokens, 64);
  EXPECT_EQ(two_pages.largest_context, 64);
  EXPECT_TRUE(two_pages.fits);
  EXPECT_EQ(Engine::load(file, device, options, {})->options().context_length,
            64);

  options.context_length = 65;
  const Plan too_much = engine::plan(*file, device, options);
  EXPECT_FALSE(too_much.fits);
  EXPECT_EQ(too_much.largest_context, 64);

  options.context_length = 0;
  options.memory_limit = one.total() - 1;
  const Plan none = engine::plan(*file, device, options);
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.largest_context, 0);
}

TEST(Load, TooLittleMemoryErrorNamesWhatFits) {
  EngineOptions options;
  options.context_length = 128;
  options.cache_tokens = 128;
  const auto plan = engine::plan(*small_model(), open_device(), options);
  options.memory_limit = plan.memory.total() - 1;
  rc::test::expect_error_with(
      RC_E_DEVICE_MEMORY,
      {"context_length of 96", "context_length 96", "keep_mapped"},
      [&] { load(options); });
}

TEST(Plan, OffersOptionsThatFit) {
  const auto file = small_model();
  const auto device = open_device();
  EngineOptions options;
  options.cache_dtype = RC_DTYPE_F32;
  options.context_length = options.cache_tokens = 256;
  const Plan whole = engine::plan(*file, device, options);
  EXPECT_TRUE(engine::offers(*file, device, options, whole).empty());

  options.memory_limit = whole.memory.total() - 1;
  const Plan plan = engine::plan(*file, device, options);
  ASSERT_FALSE(plan.fits);
  const auto offers = engine::offers(*file, device, options, plan);
  const Offer* context = find_offer(offers, "context_length");
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(context->value, "224");
  EXPECT_EQ(context->context_length, 224);
  const Offer* type = find_offer(offers, "cache_dtype");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->value, "F16");
  EXPECT_EQ(type->context_length, 256);
  const Offer* mapped = find_offer(offers, "keep_mapped");
  ASSERT_NE(mapped, nullptr);
  EXPECT_GT(mapped->mapped, 0u);
  EXPECT_EQ(find_offer(offers, "experts_mapped"), nullptr);
  for (const Offer& offer : offers) {
    if (offer.option != "backend") {
      EXPECT_LE(offer.total, options.memory_limit) << offer.text;
    }
    EXPECT_NE(offer.text.find(std::to_string(offer.total)), std::string::npos)
        << offer.text;
  }

  // Each keeps what it promises.
  EngineOptions shorter = options;
  shorter.context_length = shorter.cache_tokens = 224;
  EXPECT_EQ(engine::plan(*file, device, shorter).memory.total(),
            context->total);
  EngineOptions smaller = options;
  smaller.cache_dtype = RC_DTYPE_F16;
  EXPECT_EQ(engine::plan(*file, device, smaller).memory.total(), type->total);
  options.keep_mapped = true;
  EXPECT_EQ(engine::plan(*file, device, options).memory.total(), mapped->total);
}

// Where not even the weights fit: a smaller type of them, the largest.
TEST(Plan, OffersToQuantize) {
  const auto file = small_model();
  const auto device = open_device();
  EngineOptions options;
  options.context_length = options.cache_tokens = 32;
  const Plan whole = engine::plan(*file, device, options);
  uint64_t before = whole.memory.total();
  std::string last;
  // A limit at the last offer's total is kept; one below it has a smaller one.
  for (int step = 0; step < 3; ++step) {
    options.memory_limit = before - 1;
    const Plan plan = engine::plan(*file, device, options);
    ASSERT_FALSE(plan.fits);
    const auto offers = engine::offers(*file, device, options, plan);
    const Offer* offer = find_offer(offers, "quantize");
    ASSERT_NE(offer, nullptr) << step;
    EXPECT_LT(offer->total, before);
    EXPECT_NE(offer->value, last);
    last = offer->value;
    before = offer->total;
  }
}

TEST(Load, OptionsOutOfRangeAreNamed) {
  const auto refused = [](auto change, const std::string& name) {
    EngineOptions options;
    change(options);
    try {
      load(options);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find(name), std::string::npos)
          << error.message();
    }
  };
  using O = EngineOptions;
  refused([](O& o) { o.context_length = -1; }, "context_length");
  refused([](O& o) { o.context_length = 1; }, "context_length");
  refused([](O& o) { o.context_length = INT64_MAX; }, "context_length");
  refused([](O& o) { o.cache_tokens = -5; }, "cache_tokens");
  refused([](O& o) { o.max_rows = 100000; }, "max_rows");
  refused([](O& o) { o.timeout_ms = -1; }, "timeout_ms");
  refused([](O& o) { o.cache_dtype = RC_DTYPE_Q4_K; }, "cache_dtype");
}

TEST(Load, SameFileAndOptionsShareAnEngine) {
  const auto device = open_device();
  const auto first = Engine::load(small_model(), device, small_options(), {});
  EXPECT_EQ(Engine::load(small_model(), device, small_options(), {}), first);
  EngineOptions other = small_options();
  other.context_length = 128;
  EXPECT_NE(Engine::load(small_model(), device, other, {}), first);
  other = small_options();
  other.keep_mapped = true;
  const auto mapped = Engine::load(small_model(), device, other, {});
  EXPECT_NE(mapped, first);
  EXPECT_LT(mapped->memory().weights, first->memory().weights / 10);
  EXPECT_EQ(Engine::load(small_model(), device, other, {}), mapped);
  EXPECT_NE(Engine::load(small_model("smollm"), device, small_options(), {}),
            first);
}

// Engines of one file that differ in everything but it.
TEST(Load, WeightsAreSharedByEngines) {
  const auto device = open_faulty_device();
  const int others = fault_control().weights;  // of devices that were given up
  auto first = Engine::load(small_model(), device, small_options(), {});
  const int weights = fault_control().weights;
  EXPECT_GT(weights, others + 10);
  const auto expected = generate(*first, greedy(some_tokens(9), 20));

  EngineOptions longer = small_options();
  longer.context_length = 2 * small_options().context_length;
  longer.cache_tokens = 0;
  EngineOptions impatient = small_options();
  impatient.timeout_ms = 1000 * 1000;
  EngineOptions wide = small_options();
  wide.max_rows = 3;
  EngineOptions exact = small_options();
  exact.cache_dtype = RC_DTYPE_F32;
  std::vector<std::shared_ptr<Engine>> engines;
  for (const EngineOptions& options : {longer, impatient, wide, exact}) {
    const Plan plan = engine::plan(*small_model(), device, options);
    EXPECT_EQ(plan.memory.shared, plan.memory.weights);
    EXPECT_EQ(plan.memory.added(), plan.memory.cache + plan.memory.scratch);
    engines.push_back(Engine::load(small_model(), device, options, {}));
    EXPECT_NE(engines.back(), first);
    EXPECT_EQ(fault_control().weights, weights);
  }
  // The weights stay as long as anybody needs them.
  first.reset();
  EXPECT_EQ(fault_control().weights, weights);
  EXPECT_EQ(generate(*engines[1], greedy(some_tokens(9), 20)).text,
            expected.text);
  EXPECT_EQ(generate(*engines[2], greedy(some_tokens(9), 20)).text,
            expected.text);
  EXPECT_EQ(
      Engine::load(small_model(), device, small_options(), {})->memory().shared,
      engines[0]->memory().weights);
  engines.clear();
  EXPECT_EQ(fault_control().weights, others);
}

TEST(Load, WeightsOfOthersAreNotShared) {
  const auto device = open_faulty_device();
  const auto first = Engine::load(small_model(), device, small_options(), {});
  const int weights = fault_control().weights;
  const auto expect_own = [&](std::shared_ptr<const model::ModelFile> file,
                              const EngineOptions& options) {
    EXPECT_EQ(engine::plan(*file, device, options).memory.shared, 0u);
    const auto engine = Engine::load(std::move(file), device, options, {});
    EXPECT_GT(fault_control().weights, weights);
  };
  // A copy of the file is another file, and so is what lies at its path later.
  const rc::test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "copy.gguf";
  std::filesystem::copy_file(small_model()->file().name(), path);
  const auto copied = model::ModelFile::open(path.string());
  expect_own(copied, small_options());
  const auto second = Engine::load(copied, device, small_options(), {});
  std::filesystem::rename(path, folder.path() / "old.gguf");
  std::filesystem::copy_file(small_model()->file().name(), path);
  expect_own(model::ModelFile::open(path.string()), small_options());
  // Mapped weights belong to one model.
  EngineOptions mapped = small_options();
  mapped.keep_mapped = true;
  const int before = fault_control().weights;
  const auto third = Engine::load(small_model(), device, mapped, {});
  EXPECT_LT(third->memory().weights, first->memory().weights / 10);
  EXPECT_GT(fault_control().weights, before);
  // Another device shares no weights.
  EXPECT_EQ(engine::plan(*small_model(), open_device(), {}).memory.shared, 0u);
}

// The first load makes a weight; the others wait for it.
TEST(Load, WeightsAreLoadedOnceByConcurrentLoads) {
  const auto device = open_faulty_device();
  const int others = fault_control().weights;  // of devices that were given up
  std::atomic<bool> begin{false};
  std::vector<std::shared_ptr<Engine>> engines(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < engines.size(); ++i) {
    threads.emplace_back([&, i] {
      EngineOptions options = small_options();
      options.timeout_ms = 100000 + static_cast<int64_t>(i);
      while (!begin) std::this_thread::yield();
      engines[i] = Engine::load(small_model(), device, options, {});
    });
  }
  begin = true;
  for (std::thread& thread : threads) thread.join();
  const int weights = fault_control().weights;
  const auto expected = generate(*engines[0], greedy(some_tokens(9), 20));
  for (auto& engine : engines) {
    EXPECT_EQ(generate(*engine, greedy(some_tokens(9), 20)).text,
              expected.text);
    if (engine != engines.back()) engine.reset();
  }
  EXPECT_EQ(fault_control().weights, weights);
  engines.clear();
  EXPECT_EQ(fault_control().weights, others);
}

TEST(Load, SharingObeysTheLimitOfEachEngine) {
  const auto device = open_device();
  EngineOptions options = small_options();
  const auto first = Engine::load(small_model(), device, options, {});
  options.memory_limit = first->memory().total();
  EXPECT_EQ(Engine::load(small_model(), device, options, {}), first);
  options.memory_limit -= 1;
  EXPECT_THROW(Engine::load(small_model(), device, options, {}), Error);
}

TEST(Load, ConcurrentLoadsLoadOnce) {
  const auto device = open_device();
  std::vector<std::shared_ptr<Engine>> engines(8);
  std::vector<std::thread> threads;
  for (auto& engine : engines) {
    threads.emplace_back([&] {
      engine = Engine::load(small_model(), device, small_options(), {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& engine : engines) EXPECT_EQ(engine, engines[0]);
}

TEST(Load, CanBeCancelledAndTriedAgain) {
  const auto device = open_device();
  int calls = 0;
  try {
    Engine::load(small_model(), device, small_options(),
                 [&](double) { return ++calls < 3; });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_CANCELLED);
  }
  EXPECT_EQ(calls, 3);
  EXPECT_NE(Engine::load(small_model(), device, small_options(), {}), nullptr);
}

TEST(Load, ReplacedFileIsLoadedAgain) {
  const auto path =
      std::filesystem::temp_directory_path() / "runcible_load_test.gguf";
  const auto copy = [&](const std::string& name) {
    std::filesystem::copy_file(
        small_model(name)->file().name(), path,
        std::filesystem::copy_options::overwrite_existing);
    return model::ModelFile::open(path.string());
  };
  const auto device = open_device();
  const auto first = Engine::load(copy("llama2"), device, small_options(), {});
  std::filesystem::remove(path);
  const auto second = Engine::load(copy("smollm"), device, small_options(), {});
  EXPECT_NE(first, second);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rc::engine::test
