// Measuring importance, through the C ABI.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/api_util.h"
#include "converted_copy.h"
#include "files/gguf/file.h"
#include "labels.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

std::string architecture(const std::string& name) {
  return source_path("tests/golden/architectures/" + name + ".gguf").string();
}

std::vector<float> floats_of(const gguf::File& file, const std::string& name) {
  const gguf::Tensor* tensor = file.find_tensor(name);
  if (tensor == nullptr) {
    ADD_FAILURE() << name << " is not there";
    return {};
  }
  EXPECT_EQ(tensor->dtype, RC_DTYPE_F32);
  const auto bytes = file.read(*tensor);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

class ModelImportance : public ::testing::Test {
 protected:
  ModelImportance()
      : text_(source_path("tests/golden/evaluation/text.txt").string()) {
    options_.text_path = text_.c_str();
    options_.context = 24;
  }

  Model load(const Backend& backend, const std::string& path) const {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 32;
    options.cache_dtype = RC_DTYPE_F32;
    rc_model* model = nullptr;
    EXPECT_OK(rc_model_load(backend.get(), path.c_str(), &options, &model));
    return Model(model);
  }
  std::string target(const char* name = "out.imatrix") const {
    return (folder_.path() / name).string();
  }
  size_t files_left() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()),
                      std::filesystem::directory_iterator()));
  }

  const std::string text_;
  const TemporaryFolder folder_;
  rc_importance_options options_ = RC_IMPORTANCE_OPTIONS_INIT;
};

TEST_F(ModelImportance, MatchesNumpy) {
  const Json expected = Json::parse(std::ifstream(
      source_path("tests/golden/evaluation/expected.json")))["importance"];
  const Backend backend = open_backend();
  for (const char* name : {"llama2", "mixtral"}) {
    SCOPED_TRACE(name);
    const Model model = load(backend, architecture(name));
    rc_importance_report report = RC_IMPORTANCE_REPORT_INIT;
    ASSERT_OK(
        rc_model_importance(model.get(), target().c_str(), &options_, &report));
    const Json& tensors = expected[name];
    EXPECT_EQ(report.tensors, static_cast<int64_t>(tensors.size()));
    EXPECT_EQ(report.windows, 8);
    EXPECT_EQ(report.tokens, 8 * 24);
    EXPECT_GT(report.tokens_per_second, 0.0);
    const auto file = gguf::File::open(target());
    EXPECT_EQ(file->tensors().size(), 2 * tensors.size());
    for (const auto& [tensor, want] : tensors.items()) {
      const auto sums = floats_of(*file, tensor + ".in_sum2");
      const auto all = want["sums"].get<std::vector<double>>();
      ASSERT_EQ(sums.size(), all.size()) << tensor;
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_NEAR(sums[i], all[i], 1e-5 * all[i]) << tensor << " " << i;
      }
      EXPECT_EQ(floats_of(*file, tensor + ".counts"),
                want["counts"].get<std::vector<float>>())
          << tensor;
    }
  }
}

TEST_F(ModelImportance, RecordsItsDatasetAndModel) {
  const Backend backend = open_backend();
  const Model model = load(backend, architecture("mixtral"));
  options_.dataset = "letters";
  options_.windows = 3;
  ASSERT_OK(
      rc_model_importance(model.get(), target().c_str(), &options_, nullptr));
  rc_model_info* info = nullptr;
  ASSERT_OK(rc_model_info_open(target().c_str(), &info));
  const auto value = [&](const char* key) {
    char* json = nullptr;
    EXPECT_OK(rc_model_info_value(info, key, 0, &json));
    const std::string text = json == nullptr ? "" : json;
    rc_free(json);
    return text;
  };
  EXPECT_EQ(value("general.type"), "\"imatrix\"");
  EXPECT_EQ(Json::parse(value("imatrix.datasets")), Json({"letters"}));
  EXPECT_EQ(value("imatrix.chunk_count"), "3");
  EXPECT_EQ(value("imatrix.chunk_size"), "24");
  rc_model_info_release(info);
  const auto file = gguf::File::open(target());
  EXPECT_EQ(file->find_tensor("blk.0.ffn_down_exps.weight.in_sum2")->shape,
            (std::vector<int64_t>{4, 32}));
  EXPECT_EQ(file->find_tensor("blk.0.ffn_down_exps.weight.counts")->shape,
            (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(file->find_tensor("blk.0.attn_q.weight.counts")->shape,
            (std::vector<int64_t>{1}));
}

// Windows, states, experts, encoders: whatever a program has.
TEST_F(ModelImportance, DoesNotDependOnTheBackend) {
  RC_TEST_LABELS(kSerial);
  const Backend reference = open_backend();
  const Backend cpu = open_backend("cpu");
  std::string words;
  for (int i = 0; i < 20; ++i) words += "the fox and the lion ";
  for (const auto& entry : std::filesystem::directory_iterator(
           source_path("tests/golden/architectures"))) {
    if (entry.path().extension() != ".gguf") continue;
    SCOPED_TRACE(entry.path().filename());
    rc_importance_options options = RC_IMPORTANCE_OPTIONS_INIT;
    options.text = words.data();
    options.text_length = words.size();
    options.context = 16;
    options.windows = 2;
    const bool reads_source = gguf::File::open(entry.path().string())
                                  ->get_string("general.architecture") == "t5";
    for (const Backend* backend : {&reference, &cpu}) {
      const Model model = load(*backend, entry.path().string());
      if (reads_source) {
        EXPECT_EQ(rc_model_importance(model.get(), target("none").c_str(),
                                      &options, nullptr),
                  RC_E_UNSUPPORTED);
        EXPECT_NE(std::string(rc_error_message()).find("source"),
                  std::string::npos)
            << rc_error_message();
        continue;
      }
      ASSERT_OK(rc_model_importance(
          model.get(), target(backend == &cpu ? "cpu" : "reference").c_str(),
          &options, nullptr));
    }
    if (reads_source) continue;
    const auto a = gguf::File::open(target("reference"));
    const auto b = gguf::File::open(target("cpu"));
    ASSERT_EQ(a->tensors().size(), b->tensors().size());
    for (const gguf::Tensor& tensor : a->tensors()) {
      const std::string name(tensor.name);
      const auto x = floats_of(*a, name);
      const auto y = floats_of(*b, name);
      ASSERT_EQ(x.size(), y.size());
      const float most = *std::max_element(x.begin(), x.end());
      EXPECT_GT(most, 0.0f) << name;
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(x[i], y[i], 1e-4f * most) << name << " " << i;
      }
    }
  }
}

// Outputs come from several segments, and later ones read what earlier ones
// gave.
TEST_F(ModelImportance, DoesNotDependOnASplitOverTwoDevices) {
  RC_TEST_LABELS(kSerial);
  const std::string path = target("fable.gguf");
  write_converted_copy(source_path("examples/model/fable.gguf").string(), path,
                       RC_DTYPE_F32);
  const Backend cpu = open_backend("cpu");
  rc_model_report whole = RC_MODEL_REPORT_INIT;
  {
    const Model model = load(cpu, path);
    ASSERT_OK(rc_model_describe(model.get(), &whole));
    ASSERT_OK(rc_model_importance(model.get(), target("one").c_str(), &options_,
                                  nullptr));
  }
  wrap_backend("smaller", "cpu");
  rc_backend_options limited = RC_BACKEND_OPTIONS_INIT;
  limited.memory_limit = whole.weight_bytes / 2;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("smaller,cpu", &limited, &opened));
  const Backend both(opened);
  {
    const Model model = load(both, path);
    ASSERT_EQ(
        report_of(plan_model(both.get(), path, nullptr).get()).device_count, 2);
    ASSERT_OK(rc_model_importance(model.get(), target("two").c_str(), &options_,
                                  nullptr));
  }
  const auto a = gguf::File::open(target("one"));
  const auto b = gguf::File::open(target("two"));
  ASSERT_EQ(a->tensors().size(), b->tensors().size());
  for (const gguf::Tensor& tensor : a->tensors()) {
    const std::string name(tensor.name);
    EXPECT_EQ(floats_of(*a, name), floats_of(*b, name)) << name;
  }
}

TEST_F(ModelImportance, LeavesNoFileIfItFails) {
  const Backend backend = open_backend();
  const Model model = load(backend, architecture("llama2"));
  const auto measure = [&](const std::string& to) {
    return rc_model_importance(model.get(), to.c_str(), &options_, nullptr);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_model_importance(model.get(), nullptr, &options_, nullptr),
               "to: NULL");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, measure(""), "to: empty");
  EXPECT_FAILS(RC_E_NOT_FOUND, measure(target() + "/x/y"), target());
  options_.context = 33;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, measure(target()), "4 to 32");
  options_.context = 24;
  double limit = 0.5;
  options_.progress = [](void* user, double fraction) -> int32_t {
    return fraction >= *static_cast<double*>(user) ? 1 : 0;
  };
  options_.progress_user = &limit;
  EXPECT_FAILS(RC_E_CANCELLED, measure(target()), "cancelled");
  limit = 2.0;
  options_.text_path = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, measure(target()), "nothing to measure");
  options_.text = "AB";
  options_.text_length = 2;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, measure(target()), "too short");
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(ModelImportance, ObeysTheMemoryLimit) {
  const auto limited = [](uint64_t limit) {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.memory_limit = limit;
    rc_backend* opened = nullptr;
    EXPECT_OK(rc_backend_open("cpu", &options, &opened));
    return Backend(opened);
  };
  const auto usage_of = [](const Backend& backend) {
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    EXPECT_OK(rc_backend_usage(backend.get(), &usage));
    return usage;
  };
  uint64_t taken = 0;
  {
    const Backend backend = limited(4 << 20);
    const Model model = load(backend, architecture("llama2"));
    taken = usage_of(backend).memory;
    EXPECT_OK(
        rc_model_importance(model.get(), target().c_str(), &options_, nullptr));
    // It was paid for, and given back.
    EXPECT_EQ(usage_of(backend).memory, taken);
    EXPECT_GT(usage_of(backend).peak_memory, taken);
  }
  ASSERT_LT(0u, taken);
  const Backend tight = limited(taken + 1024);
  const Model model = load(tight, architecture("llama2"));
  EXPECT_FAILS(RC_E_DEVICE_MEMORY,
               rc_model_importance(model.get(), target("no").c_str(), &options_,
                                   nullptr),
               "ask for a shorter context");
  EXPECT_FALSE(std::filesystem::exists(target("no")));
}

struct ImportanceEnd {
  std::atomic<int> calls{0};
  rc_status status = RC_OK;
  int64_t tensors = 0;
};

TEST_F(ModelImportance, EndIsDeliveredOnTheLoop) {
  const Backend backend = open_backend();
  rc_loop* created = nullptr;
  ASSERT_OK(rc_loop_create(&created));
  const Loop loop(created);
  ImportanceEnd ended;
  const auto receive = [](void* user, rc_status status, const char*,
                          const rc_importance_report* report) {
    ImportanceEnd& ended = *static_cast<ImportanceEnd*>(user);
    ended.status = status;
    if (report != nullptr) ended.tensors = report->tensors;
    ++ended.calls;
  };
  ASSERT_OK(rc_model_importance_async(
      load(backend, architecture("llama2")).get(), target().c_str(), &options_,
      loop.get(), receive, &ended));
  while (ended.calls == 0) {
    ASSERT_OK(rc_loop_wait(loop.get(), -1));
    ASSERT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
  }
  EXPECT_EQ(ended.status, RC_OK);
  EXPECT_EQ(ended.tensors, 15);
  EXPECT_TRUE(std::filesystem::exists(target()));
}

}  // namespace
}  // namespace rc::test
