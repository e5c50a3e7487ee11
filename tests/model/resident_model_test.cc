#include "model/resident_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "cpu/plugin.h"
#include "mapped_memory.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "runtime/registry.h"
#include "tensor/dtype.h"
#include "test_data.h"

namespace rc::test {
namespace {

using model::LayerState;
constexpr auto kPages = LayerState::Kind::kPages;

std::vector<int32_t> count_up(int32_t first, int32_t count) {
  return pages_from(first, count);
}

rc_status status_of(const std::function<void()>& call,
                    std::string* message = nullptr) {
  try {
    call();
    return RC_OK;
  } catch (const Error& error) {
    if (message != nullptr) *message = error.message();
    return error.status();
  }
}

class Resident : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, Resident,
                         ::testing::Values("reference", "cpu"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

TEST_P(Resident, TakesThePlannedMemory) {
  const auto file = golden_model("gemma2");
  const auto device = open_device(GetParam());
  const Room room;
  const model::MemoryPlan plan =
      model::place(*file, options_of(room), device).memory;
  const auto model = load(file, GetParam(), room);
  EXPECT_EQ(model->memory().total(), plan.total());
  EXPECT_EQ(plan.cache, model->caches(kPages).bytes() * 64);
  // 3 layers, keys and values, 2 heads of 16 elements, 16 positions.
  EXPECT_EQ(model->caches(kPages).bytes(),
            3u * 2 * 2 * 16 * 16 * sizeof(float));
  EXPECT_GT(plan.weights, 0u);
  EXPECT_GT(plan.scratch, 0u);
}

TEST_P(Resident, ReportsProgressAndCanBeCancelled) {
  const auto file = golden_model("llama2");
  const auto device = open_device(GetParam());
  std::vector<double> reports;
  const auto load_until = [&](size_t count) {
    reports.clear();
    model::ResidentModel::load(file,
                               model::place(*file, options_of({}), device),
                               options_of({}), [&](double fraction) {
                                 reports.push_back(fraction);
                                 return reports.size() < count;
                               });
  };
  load_until(SIZE_MAX);
  ASSERT_GT(reports.size(), 10u);
  EXPECT_EQ(reports.front(), 0.0);
  EXPECT_EQ(reports.back(), 1.0);
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  const size_t all = reports.size();
  for (const size_t count : {size_t{1}, size_t{2}, all / 2, all}) {
    EXPECT_EQ(status_of([&] { load_until(count); }), RC_E_CANCELLED);
    EXPECT_EQ(reports.size(), count);
  }
}

TEST_P(Resident, MapsNothingByDefault) {
  const auto path = source_path("examples/model/fable.gguf");
  const auto file = model::ModelFile::open(path.string());
  const auto model = load(file, GetParam());
  // Nothing is mapped; the file can be read once more.
  EXPECT_EQ(mapped_memory(path), 0u);
  const std::vector<int32_t> tokens = {1, 2, 3};
  EXPECT_EQ(evaluate(*load(file, GetParam()), tokens),
            evaluate(*model, tokens));
}

TEST_P(Resident, ComputesTheSameFromTheMappedFile) {
  std::vector<std::filesystem::path> files = {
      source_path("examples/model/fable.gguf")};
  const auto folder = source_path("tests/golden/architectures");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".gguf") files.push_back(entry.path());
  }
  ASSERT_GT(files.size(), 10u);
  const std::vector<int32_t> tokens = count_up(30, 20);
  for (const auto& path : files) {
    SCOPED_TRACE(path);
    const auto file = model::ModelFile::open(path.string());
    const auto copied = load(file, GetParam());
    const auto mapped = load(file, GetParam(), {.keep_mapped = true});
    for (const size_t chunk : {size_t{1}, tokens.size()}) {
      // A sequence that sees all of itself has no chunks.
      if (!file->causal() && chunk < tokens.size()) continue;
      const std::vector<float> expected = evaluate(*copied, tokens, chunk);
      const std::vector<float> actual = evaluate(*mapped, tokens, chunk);
      ASSERT_EQ(actual.size(), expected.size());
      EXPECT_EQ(std::memcmp(actual.data(), expected.data(),
                            actual.size() * sizeof(float)),
                0);
    }
  }
}

// Whatever number of copies there is, and whichever experts leave.
TEST_P(Resident, ComputesTheSameFromMappedExperts) {
  size_t mixtures = 0;
  const std::vector<int32_t> tokens = count_up(30, 20);
  for (const std::string& name : golden_architectures()) {
    const auto file = golden_model(name);
    const int64_t experts = file->hyper_parameters().experts;
    if (experts == 0 || !file->causal()) continue;
    SCOPED_TRACE(name);
    ++mixtures;
    const auto copied = load(file, GetParam());
    for (const int64_t resident : {int64_t{1}, experts / 2, experts}) {
      SCOPED_TRACE(resident);
      const auto mapped =
          load(file, GetParam(), {.resident_experts = resident});
      EXPECT_LE(mapped->memory().weights, copied->memory().weights);
      for (const size_t chunk : {size_t{1}, tokens.size(), size_t{3}}) {
        ASSERT_EQ(evaluate(*mapped, tokens, chunk),
                  evaluate(*copied, tokens, chunk));
      }
    }
  }
  EXPECT_GT(mixtures, 3u);
}

TEST_P(Resident, CountsTheCopiesOfMappedExperts) {
  const auto file = golden_model("qwen3moe");
  const int64_t experts = file->hyper_parameters().experts;
  ASSERT_GT(experts, 2);
  const auto weights = [&](int64_t resident, const std::string& backend) {
    return load(file, backend, {.resident_experts = resident})
        ->memory()
        .weights;
  };
  const uint64_t all = load(file, GetParam())->memory().weights;
  const uint64_t one = weights(1, GetParam()), two = weights(2, GetParam());
  if (GetParam() == std::string("reference")) {
    EXPECT_EQ(one, two);  // it keeps none
    EXPECT_LT(one, all);
    return;
  }
  EXPECT_LT(one, two);
  EXPECT_EQ(all - one, (two - one) * static_cast<uint64_t>(experts - 1));
  EXPECT_EQ(weights(experts, GetParam()), all);
}

// A stopped run leaves no partial copies.
TEST_P(Resident, CopiesExpertsAgainAfterAStoppedRun) {
  const auto file = golden_model("qwen3moe");
  const std::vector<int32_t> tokens = count_up(30, 20);
  const std::vector<float> expected = evaluate(*load(file, GetParam()), tokens);
  for (int after = 0; after < 60; ++after) {
    const auto model = load(file, GetParam(), {.resident_experts = 2});
    model::Batch batch;
    batch.tokens = tokens;
    batch.sequence_count = 1;
    batch.page_table.resize(16);
    for (int32_t i = 0; i < 16; ++i) batch.page_table[i] = i;
    for (int32_t i = 0; i < 20; ++i) {
      batch.positions.push_back(i);
      batch.sequences.push_back(0);
    }
    std::vector<float> none(1);
    std::atomic<int> left = after;
    const auto stop = [](void* user) -> int32_t {
      return static_cast<std::atomic<int>*>(user)->fetch_sub(1) <= 0 ? 1 : 0;
    };
    try {
      model->run(batch, none.data(), stop, &left, -1);
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), RC_E_CANCELLED) << error.message();
    }
    ASSERT_EQ(evaluate(*model, tokens), expected);
  }
}

TEST_P(Resident, LeavesMappedWeightsInTheFile) {
  const auto path = source_path("examples/model/fable.gguf");
  const auto file = model::ModelFile::open(path.string());
  const auto model = load(file, GetParam(), {.keep_mapped = true});
  EXPECT_LT(model->memory().weights, file->file().size() / 20);
  // Nothing of them was read yet.
  EXPECT_EQ(mapped_memory(path), 0u);
  const std::vector<int32_t> tokens = {1, 2, 3};
  const std::vector<float> logits = evaluate(*model, tokens);
  EXPECT_GT(mapped_memory(path), file->file().size() / 2);
  // The system may take the pages back at any time.
  give_back_mapped_memory(path);
  EXPECT_EQ(mapped_memory(path), 0u);
  EXPECT_EQ(evaluate(*model, tokens), logits);
}

TEST_P(Resident, ReportsAChangedMappedFile) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("runcible_mapped_" + std::string(GetParam()) + ".gguf");
  std::filesystem::copy_file(
      source_path("tests/golden/architectures/llama2.gguf"), path,
      std::filesystem::copy_options::overwrite_existing);
  const uint64_t size = std::filesystem::file_size(path);
  const auto model = load(model::ModelFile::open(path.string()), GetParam(),
                          {.keep_mapped = true});
  const std::vector<float> logits = evaluate(*model, {1, 5});
  std::filesystem::resize_file(path, size + 1);
  std::string message;
  EXPECT_EQ(status_of([&] { evaluate(*model, {1, 5}); }, &message), RC_E_IO);
  EXPECT_NE(message.find(path.string()), std::string::npos) << message;
  std::filesystem::resize_file(path, size);
  EXPECT_EQ(evaluate(*model, {1, 5}), logits);
  std::filesystem::remove(path);
}

TEST(Mapped, IsRefusedWhereWeightsAreCopied) {
  rc_plugin table = *cpu::plugin();
  table.name = "copying";
  table.map_weight = nullptr;
  runtime::register_plugin(table);
  const auto file = golden_model("llama2");
  std::string message;
  EXPECT_EQ(status_of([&] { load(file, "copying", {.keep_mapped = true}); },
                      &message),
            RC_E_UNSUPPORTED);
  for (const char* part : {"copying:0", "keep_mapped"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(evaluate(*load(file, "copying"), {1, 5}),
            evaluate(*load(file, "cpu"), {1, 5}));
}

// Only a device that reports its memory can refuse before allocating.
TEST(Memory, IsCheckedBeforeLoading) {
  const auto file = golden_model("llama2");
  std::string message;
  // 512 bytes per position: 2 PiB.
  EXPECT_EQ(status_of(
                [&] {
                  load(file, "cpu",
                       {.page_size = 4096, .pages = int64_t{1} << 30});
                },
                &message),
            RC_E_DEVICE_MEMORY);
  for (const char* part : {"llama2.gguf", "weights", "free", "positions"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST_P(Resident, PagesCanBeCopiedAndMoved) {
  const std::vector<int32_t> tokens = count_up(40, 48);
  const auto model = load(golden_model("gemma2"), GetParam());
  const std::vector<float> whole = evaluate(*model, tokens);
  const size_t vocabulary = whole.size() / tokens.size();

  model::CacheGroup& pages = model->caches(kPages);
  pages.copy(9, 0);
  std::vector<std::byte> page(pages.bytes());
  pages.download(1, page);
  pages.upload(30, page);
  const std::vector<float> rest =
      evaluate(*model, {{count_up(72, 16), {9, 30, 31}, 32}}, 5)[0];
  ASSERT_EQ(rest.size(), 16 * vocabulary);
  EXPECT_EQ(std::memcmp(rest.data(), &whole[32 * vocabulary],
                        rest.size() * sizeof(float)),
            0);

  EXPECT_EQ(status_of([&] { pages.copy(64, 0); }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { pages.copy(0, -1); }), RC_E_INVALID_ARGUMENT);
  page.pop_back();
  EXPECT_EQ(status_of([&] { pages.download(1, page); }), RC_E_INVALID_ARGUMENT);
}

// Layers with a window of 10 need two pages of 16 positions and one more to
// write to, in turn, however long the sequence.
TEST_P(Resident, WindowsReuseTheirPages) {
  for (const char* name : {"mistral", "gemma2", "gemma3", "gpt-oss"}) {
    SCOPED_TRACE(name);
    const std::vector<int32_t> tokens = count_up(20, 120);
    const std::vector<float> whole =
        evaluate(*load(golden_model(name), GetParam()), tokens, 16);
    Room room;
    room.window_pages = 3 * 3;
    const auto model = load(golden_model(name), GetParam(), room);
    EXPECT_EQ(model->caches(LayerState::Kind::kWindow).count(), 9);
    const auto all = evaluate(*model,
                              {{tokens, pages_from(0, 8)},
                               {count_up(9, 100), pages_from(20, 8)},
                               {tokens, pages_from(40, 8)}},
                              16);
    EXPECT_EQ(all[0], whole);
    EXPECT_EQ(all[2], whole);
  }
}

TEST_P(Resident, StopsWhenAsked) {
  const auto model = load(golden_model("llama2"), GetParam());
  const std::vector<float> expected = evaluate(*model, {1, 5});
  model::Batch batch;
  batch.tokens = {1};
  batch.positions = {0};
  batch.sequences = {0};
  batch.page_table = pages_from(0, 16);
  batch.sequence_count = 1;
  const auto stop = [](void*) -> int32_t { return 1; };
  EXPECT_EQ(status_of([&] { model->run(batch, nullptr, stop, nullptr, -1); }),
            RC_E_CANCELLED);
  EXPECT_EQ(evaluate(*model, {1, 5}), expected);
}

TEST_P(Resident, QuantizedCachesLoseLittlePrecision) {
  const auto file = golden_model("llama3");
  const std::vector<int32_t> tokens = count_up(20, 40);
  const std::vector<float> exact = evaluate(*load(file, GetParam()), tokens);
  const std::pair<DType, double> limits[] = {{RC_DTYPE_F16, 1e-5},
                                             {RC_DTYPE_Q8_0, 1e-2}};
  for (const auto& [dtype, limit] : limits) {
    const std::vector<float> logits =
        evaluate(*load(file, GetParam(), {.cache = dtype}), tokens);
    const double error = normalized_error(logits, exact);
    EXPECT_GT(error, 0.0) << dtype_name(dtype);
    EXPECT_LT(error, limit) << dtype_name(dtype);
  }
}

TEST(CacheLayout, UnsupportedTypesAreRefused) {
  const auto file = golden_model("llama2");  // heads of 16 elements
  std::string message;
  EXPECT_EQ(
      status_of([&] { load(file, "reference", {.cache = RC_DTYPE_Q8_0}); },
                &message),
      RC_E_UNSUPPORTED);
  EXPECT_NE(message.find("16"), std::string::npos) << message;
  EXPECT_EQ(status_of([&] { load(file, "reference", {.cache = 12345}); }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { load(file, "reference", {.page_size = 0}); }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { load(file, "reference", {.pages = -1}); }),
            RC_E_INVALID_ARGUMENT);
}

// Some converters store norms as F16.
TEST(ModelFile, DecodesNormsThatAreNotF32) {
  Patient patient("llama2");
  const auto original = model::ModelFile::from_gguf(patient.file());
  const std::string name = "blk.1.ffn_norm.weight";
  std::vector<float> values(64);
  model::WeightBuffer buffer;
  std::memcpy(values.data(), original->read_weight(name, buffer),
              64 * sizeof(float));
  Patient::Tensor& norm = patient.tensor(name);
  norm.dtype = RC_DTYPE_F16;
  norm.data.resize(64 * sizeof(uint16_t));
  encode_row(norm.dtype, values.data(), norm.data.data(), 64);

  const auto changed = model::ModelFile::from_gguf(patient.file());
  const auto* decoded =
      static_cast<const float*>(changed->read_weight(name, buffer));
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(decoded[i], f16_to_f32(f32_to_f16(values[i])));
  }
  EXPECT_NE(changed->fingerprint(), original->fingerprint());
}

TEST(ModelFile, FingerprintDistinguishesModels) {
  Patient patient("llama2");
  const uint64_t original =
      model::ModelFile::from_gguf(patient.file())->fingerprint();
  EXPECT_EQ(golden_model("llama2")->fingerprint(), original);
  EXPECT_NE(golden_model("smollm")->fingerprint(), original);
  // The same shapes, other training.
  patient.tensor("blk.0.ffn_up.weight").data[5] ^= std::byte{1};
  EXPECT_NE(model::ModelFile::from_gguf(patient.file())->fingerprint(),
            original);
}

}  // namespace
}  // namespace rc::test
