// Models from a caller's memory.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "api_util.h"
#include "files/gguf/file.h"
#include "files/gguf/writer.h"
#include "test_data.h"

namespace rc::test {
namespace {

std::vector<char> content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<char> model_bytes() { return content_of(model_path()); }

rc_model_memory memory_of(const std::vector<char>& bytes) {
  rc_model_memory memory = RC_MODEL_MEMORY_INIT;
  memory.data = bytes.data();
  memory.size = bytes.size();
  return memory;
}

// Lent bytes, which become garbage when they are given back.
struct Lent {
  explicit Lent(std::vector<char> content) : bytes(std::move(content)) {
    memory = memory_of(bytes);
    memory.release = [](void* user) {
      auto* self = static_cast<Lent*>(user);
      std::memset(self->bytes.data(), 0xA5, self->bytes.size());
      ++self->released;
    };
    memory.user = this;
  }
  std::vector<char> bytes;
  rc_model_memory memory;
  std::atomic<int> released{0};
};

Model load(rc_backend* backend, const rc_model_memory& memory,
           const rc_model_options* options = nullptr) {
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load_memory(backend, &memory, options, &model));
  return Model(model);
}

std::string text_of(rc_model* model) {
  return generate(create_session(model).get());
}

std::string expected_text() {
  const Backend backend = open_backend();
  return text_of(load_model(backend.get()).get());
}

TEST(ModelMemory, CallerMayFreeCopiedBytes) {
  const Backend backend = open_backend();
  std::vector<char> bytes = model_bytes();
  const Model model = load(backend.get(), memory_of(bytes));
  std::memset(bytes.data(), 0xA5, bytes.size());
  EXPECT_EQ(text_of(model.get()), expected_text());
}

TEST(ModelMemory, AcceptsAnyAlignment) {
  const Backend backend = open_backend();
  const std::vector<char> whole = model_bytes();
  std::vector<char> shifted(whole.size() + 3);
  std::copy(whole.begin(), whole.end(), shifted.begin() + 3);
  rc_model_memory memory = memory_of(whole);
  memory.data = shifted.data() + 3;
  EXPECT_EQ(text_of(load(backend.get(), memory).get()), expected_text());
}

TEST(ModelMemory, LentBytesAreReleasedOnceAfterTheLastUse) {
  const Backend backend = open_backend();
  Lent lent(model_bytes());
  Model model = load(backend.get(), lent.memory);
  EXPECT_EQ(lent.released, 0);
  const Session session = create_session(model.get());
  model.reset();
  EXPECT_EQ(generate(session.get()), expected_text());
  EXPECT_EQ(lent.released, 0);
}

TEST(ModelMemory, LentBytesAreReleasedWithTheModel) {
  const Backend backend = open_backend();
  Lent lent(model_bytes());
  { const Model model = load(backend.get(), lent.memory); }
  EXPECT_EQ(lent.released, 1);
}

// A processor computes from the caller's bytes.
TEST(ModelMemory, KeepMappedUsesTheBytesOfTheCaller) {
  const Backend backend = open_backend("cpu");
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.keep_mapped = 1;
  Lent lent(model_bytes());
  Lent copied(model_bytes());
  {
    const Model mapped = load(backend.get(), lent.memory, &options);
    const Model other = load(backend.get(), copied.memory);
    EXPECT_EQ(text_of(mapped.get()), text_of(other.get()));
    rc_model_report here = RC_MODEL_REPORT_INIT;
    rc_model_report there = RC_MODEL_REPORT_INIT;
    ASSERT_OK(rc_model_describe(mapped.get(), &here));
    ASSERT_OK(rc_model_describe(other.get(), &there));
    EXPECT_LT(here.weight_bytes, there.weight_bytes);
    EXPECT_EQ(lent.released, 0);
  }
  EXPECT_EQ(lent.released, 1);
  EXPECT_EQ(copied.released, 1);
}

TEST(ModelMemory, IsQuantizedAsFilesAre) {
  const Backend backend = open_backend("cpu");
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.quantize = "q8_0";
  rc_model* from_file = nullptr;
  ASSERT_OK(
      rc_model_load(backend.get(), model_path().c_str(), &options, &from_file));
  const Model expected(from_file);
  Lent lent(model_bytes());
  const Model model = load(backend.get(), lent.memory, &options);
  EXPECT_EQ(text_of(model.get()), text_of(expected.get()));
}

// Functions that read a model in memory and keep nothing, except loading.
std::vector<std::function<rc_status(const rc_model_memory*)>> openers_of(
    rc_backend* backend) {
  return {[=](const rc_model_memory* memory) {
            rc_model* model = nullptr;
            const rc_status status =
                rc_model_load_memory(backend, memory, nullptr, &model);
            rc_model_release(model);
            return status;
          },
          [=](const rc_model_memory* memory) {
            rc_plan* plan = nullptr;
            const rc_status status =
                rc_model_plan_memory(memory, nullptr, backend, &plan);
            rc_plan_release(plan);
            return status;
          },
          [](const rc_model_memory* memory) {
            rc_model_info* info = nullptr;
            const rc_status status = rc_model_info_open_memory(memory, &info);
            rc_model_info_release(info);
            return status;
          },
          [](const rc_model_memory* memory) {
            rc_tokenizer* tokenizer = nullptr;
            const rc_status status =
                rc_tokenizer_open_memory(memory, &tokenizer);
            rc_tokenizer_release(tokenizer);
            return status;
          },
          [](const rc_model_memory* memory) {
            return rc_model_verify_memory(memory);
          }};
}

TEST(ModelMemory, EveryFunctionReleasesLentBytesOnce) {
  const Backend backend = open_backend();
  for (const auto& open : openers_of(backend.get())) {
    Lent lent(model_bytes());
    EXPECT_OK(open(&lent.memory));
    EXPECT_EQ(lent.released, 1);
    // Also if it fails.
    Lent broken(std::vector<char>(100, 'x'));
    EXPECT_FAILS(RC_E_FORMAT, open(&broken.memory), "memory: ");
    EXPECT_EQ(broken.released, 1);
    Lent named(std::vector<char>(100, 'x'));
    named.memory.name = "weights.bin";
    EXPECT_FAILS(RC_E_FORMAT, open(&named.memory), "weights.bin: ");
    EXPECT_EQ(named.released, 1);
    Lent nothing(std::vector<char>{});
    nothing.memory.data = nullptr;
    nothing.memory.size = 5;
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, open(&nothing.memory),
                 "memory->data: NULL");
    EXPECT_EQ(nothing.released, 1);
    Lent endless(model_bytes());
    endless.memory.size = UINT64_MAX;
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, open(&endless.memory), "memory->size");
    EXPECT_EQ(endless.released, 1);
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, open(nullptr), "memory: NULL");
    rc_model_memory small = RC_MODEL_MEMORY_INIT;
    small.struct_size = 0;
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, open(&small), "struct_size");
  }
}

TEST(ModelMemory, InvalidArgumentsReleaseLentBytes) {
  const Backend backend = open_backend();
  Lent lent(model_bytes());
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_model_load_memory(backend.get(), &lent.memory, nullptr, nullptr),
      "model: NULL");
  EXPECT_EQ(lent.released, 1);
  Lent second(model_bytes());
  rc_model* model = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_model_load_memory(nullptr, &second.memory, nullptr, &model),
               "backend");
  EXPECT_EQ(second.released, 1);
  Lent other(model_bytes());
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_model_load_memory_async(backend.get(), &other.memory, nullptr,
                                          nullptr, nullptr, nullptr),
               "callback");
  EXPECT_EQ(other.released, 1);
}

TEST(ModelMemory, TruncatedBytesAreRefused) {
  const std::vector<char> whole = model_bytes();
  for (size_t size = 0; size < whole.size(); size += 1 + size / 7) {
    const std::vector<char> cut(whole.begin(),
                                whole.begin() + static_cast<ptrdiff_t>(size));
    rc_model_memory memory = memory_of(cut);
    if (cut.empty()) memory.data = "";
    EXPECT_FAILS(RC_E_FORMAT, rc_model_verify_memory(&memory), "memory: ");
  }
}

TEST(ModelMemory, APartOfAModelIsRefused) {
  gguf::Writer writer(32);
  writer.add("general.architecture", std::string_view("llama"));
  writer.add("split.count", uint16_t{3});
  const std::vector<std::byte> header = writer.header();
  rc_model_memory memory = RC_MODEL_MEMORY_INIT;
  memory.data = header.data();
  memory.size = header.size();
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_model_verify_memory(&memory),
               "it is one of 3 files");
}

TEST(ModelMemory, InfoEqualsThatOfTheFile) {
  rc_model_info* of_file = nullptr;
  rc_model_info* of_memory = nullptr;
  ASSERT_OK(rc_model_info_open(model_path().c_str(), &of_file));
  {
    Lent lent(model_bytes());
    ASSERT_OK(rc_model_info_open_memory(&lent.memory, &of_memory));
    EXPECT_EQ(lent.released, 1);
  }
  ASSERT_EQ(rc_model_info_metadata_count(of_memory),
            rc_model_info_metadata_count(of_file));
  for (size_t i = 0; i < rc_model_info_metadata_count(of_file); ++i) {
    const char *key = nullptr, *type = nullptr;
    ASSERT_OK(rc_model_info_metadata(of_file, i, &key, &type));
    char *expected = nullptr, *value = nullptr;
    ASSERT_OK(rc_model_info_value(of_file, key, 0, &expected));
    ASSERT_OK(rc_model_info_value(of_memory, key, 0, &value));
    EXPECT_STREQ(value, expected) << key;
    rc_free(expected);
    rc_free(value);
  }
  ASSERT_EQ(rc_model_info_tensor_count(of_memory),
            rc_model_info_tensor_count(of_file));
  for (size_t i = 0; i < rc_model_info_tensor_count(of_file); ++i) {
    rc_tensor_report expected = RC_TENSOR_REPORT_INIT;
    rc_tensor_report report = RC_TENSOR_REPORT_INIT;
    ASSERT_OK(rc_model_info_tensor(of_file, i, &expected));
    ASSERT_OK(rc_model_info_tensor(of_memory, i, &report));
    EXPECT_STREQ(report.name, expected.name);
    EXPECT_EQ(report.bytes, expected.bytes);
    EXPECT_EQ(report.offset, expected.offset);
  }
  rc_model_info_release(of_file);
  rc_model_info_release(of_memory);
}

TEST(ModelMemory, PlanEqualsThatOfTheFile) {
  const Backend backend = open_backend();
  const std::vector<char> bytes = model_bytes();
  const rc_model_memory memory = memory_of(bytes);
  rc_plan* made = nullptr;
  ASSERT_OK(rc_model_plan_memory(&memory, nullptr, backend.get(), &made));
  const Plan plan(made);
  const rc_plan_report report = report_of(plan.get());
  const rc_plan_report expected =
      report_of(plan_model(backend.get(), model_path(), nullptr).get());
  EXPECT_EQ(report.weights, expected.weights);
  EXPECT_EQ(report.cache, expected.cache);
  EXPECT_EQ(report.scratch, expected.scratch);
  EXPECT_EQ(report.total, expected.total);
  EXPECT_EQ(report.context_length, expected.context_length);
}

Loaded load_async(rc_backend* backend, rc_model_memory* memory,
                  const std::function<void()>& meanwhile) {
  rc_loop* created = nullptr;
  EXPECT_OK(rc_loop_create(&created));
  const Loop loop(created);
  Loaded loaded;
  const auto callback = [](void* user, rc_status status, const char* message,
                           rc_model* model) {
    auto* self = static_cast<Loaded*>(user);
    ++self->calls;
    self->status = status;
    self->message = message;
    self->model.reset(model);
  };
  EXPECT_OK(rc_model_load_memory_async(backend, memory, nullptr, loop.get(),
                                       callback, &loaded));
  meanwhile();
  EXPECT_OK(rc_loop_wait(loop.get(), 60'000));
  EXPECT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
  EXPECT_EQ(loaded.calls, 1);
  return loaded;
}

TEST(ModelMemory, LoadsInTheBackground) {
  const Backend backend = open_backend();
  std::vector<char> bytes = model_bytes();
  rc_model_memory copied = memory_of(bytes);
  Loaded loaded = load_async(backend.get(), &copied, [&] {
    std::memset(bytes.data(), 0xA5, bytes.size());
    copied = RC_MODEL_MEMORY_INIT;
  });
  ASSERT_EQ(loaded.status, RC_OK) << loaded.message;
  EXPECT_EQ(text_of(loaded.model.get()), expected_text());
  Lent lent(model_bytes());
  loaded = load_async(backend.get(), &lent.memory, [] {});
  ASSERT_EQ(loaded.status, RC_OK) << loaded.message;
  EXPECT_EQ(lent.released, 0);
  EXPECT_EQ(text_of(loaded.model.get()), expected_text());
  loaded.model.reset();
  EXPECT_EQ(lent.released, 1);
}

}  // namespace
}  // namespace rc::test
