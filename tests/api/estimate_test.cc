// Estimates of models without a file.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api_util.h"
#include "files/gguf/file.h"
#include "labels.h"
#include "test_data.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

OrderedJson eight_billion() {
  return {{"architecture", "llama"},
          {"vocab_size", 128256},
          {"context_length", 8192},
          {"block_count", 32},
          {"embedding_length", 4096},
          {"feed_forward_length", 14336},
          {"attention.head_count", 32},
          {"attention.head_count_kv", 8},
          {"attention.layer_norm_rms_epsilon", 1e-5},
          {"rope.freq_base", 500000},
          {"tensors", {"output.weight"}}};
}

rc_status try_estimate(rc_backend* backend, const std::string& text,
                       const char* type, const rc_model_options* options,
                       Plan& plan) {
  rc_plan* made = nullptr;
  const rc_status status =
      rc_model_estimate(text.c_str(), type, options, backend, &made);
  plan.reset(made);
  return status;
}

rc_status refused(rc_backend* backend, const OrderedJson& json,
                  const char* type = nullptr) {
  Plan plan;
  return try_estimate(backend, json.dump(), type, nullptr, plan);
}

void expect_equal(const rc_plan_report& report,
                  const rc_plan_report& expected) {
  EXPECT_EQ(report.weights, expected.weights);
  EXPECT_EQ(report.cache, expected.cache);
  EXPECT_EQ(report.scratch, expected.scratch);
  EXPECT_EQ(report.total, expected.total);
  EXPECT_EQ(report.transfers, expected.transfers);
  EXPECT_EQ(report.context_length, expected.context_length);
  EXPECT_EQ(report.cache_tokens, expected.cache_tokens);
}

// The metadata of a file in the form of a hand-written description.
OrderedJson hyper_parameters_of(const std::string& path) {
  rc_model_info* info = nullptr;
  EXPECT_OK(rc_model_info_open(path.c_str(), &info));
  OrderedJson json = OrderedJson::object();
  for (size_t i = 0; i < rc_model_info_metadata_count(info); ++i) {
    const char *key = nullptr, *type = nullptr;
    EXPECT_OK(rc_model_info_metadata(info, i, &key, &type));
    const std::string name = key;
    if (name.rfind("tokenizer.", 0) == 0 && name != "tokenizer.ggml.tokens") {
      continue;
    }
    char* value = nullptr;
    EXPECT_OK(rc_model_info_value(info, key, 0, &value));
    if (name == "tokenizer.ggml.tokens") {
      if (!json.contains("vocab_size")) {
        json["vocab_size"] = OrderedJson::parse(value).size();
      }
    } else {
      json[name] = OrderedJson::parse(value);
      // Infinities, which JSON has not: those of files are negative.
      if (json[name].is_array()) {
        for (OrderedJson& item : json[name]) {
          if (item.is_null()) item = "-inf";
        }
      }
    }
    rc_free(value);
  }
  rc_model_info_release(info);
  const std::string own =
      json["general.architecture"].get<std::string>() + ".vocab_size";
  if (json.contains(own)) json.erase("vocab_size");
  return json;
}

// The golden models, each by its metadata and the names of its tensors: what
// their shapes are the architecture says.
TEST(Estimate, MatchesThePlanOfTheFile) {
  RC_TEST_LABELS(kSerial);
  const Backend backend = open_backend();
  size_t alone = 0;
  size_t all = 0;
  for (const auto& entry :
       fs::directory_iterator(source_path("tests/golden/architectures"))) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".gguf") continue;
    SCOPED_TRACE(path);
    const rc_plan_report expected =
        report_of(plan_model(backend.get(), path, nullptr).get());
    OrderedJson json = hyper_parameters_of(path);
    ++all;
    Plan plan;
    if (try_estimate(backend.get(), json.dump(), "F32", nullptr, plan) ==
            RC_OK &&
        report_of(plan.get()).weights == expected.weights) {
      ++alone;
    } else {
      const auto file = gguf::File::open(path);
      OrderedJson tensors = OrderedJson::object();
      for (const gguf::Tensor& tensor : file->tensors()) {
        tensors[std::string(tensor.name)] = tensor.shape;
      }
      json["tensors"] = tensors;
      ASSERT_OK(try_estimate(backend.get(), json.dump(), "F32", nullptr, plan));
    }
    expect_equal(report_of(plan.get()), expected);
  }
  EXPECT_GT(all, 60u);
  // The other models have tensors that are optional in their architecture.
  EXPECT_GT(alone, 20u) << "of " << all;
}

TEST(Estimate, TensorNamesWithoutShapesAreEnough) {
  RC_TEST_LABELS(kSerial);
  const Backend backend = open_backend();
  for (const char* name : {"llama2", "qwen2", "llama-biases", "gemma2"}) {
    const std::string path =
        source_path(std::string("tests/golden/architectures/") + name + ".gguf")
            .string();
    OrderedJson json = hyper_parameters_of(path);
    OrderedJson tensors = OrderedJson::array();
    const auto file = gguf::File::open(path);
    for (const gguf::Tensor& tensor : file->tensors()) {
      tensors.push_back(std::string(tensor.name));
    }
    json["tensors"] = tensors;
    Plan plan;
    ASSERT_OK(try_estimate(backend.get(), json.dump(), "f32", nullptr, plan));
    expect_equal(report_of(plan.get()),
                 report_of(plan_model(backend.get(), path, nullptr).get()));
  }
}

// 8,030,261,248 parameters: 128256 * 4096 twice, and 32 layers of 4096 * 4096
// twice, 4096 * 1024 twice, 4096 * 14336 three times and two norms of 4096, and
// one norm. Norms take 4 bytes for each number, as 64 rotary frequencies do.
TEST(Estimate, MatchesTheKnownSizeOfLlama8B) {
  RC_TEST_LABELS(kSerial);
  const Backend backend = open_backend("cpu");
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 8192;
  options.cache_tokens = 8192;
  Plan plan;
  ASSERT_OK(try_estimate(backend.get(), eight_billion().dump(), "BF16",
                         &options, plan));
  const rc_plan_report report = report_of(plan.get());
  const uint64_t norms = 65 * 4096;
  const uint64_t matrices = 8'030'261'248 - norms;
  // A processor may round rows of its matrices up, and may have a scale of four
  // bytes for each 64 numbers.
  EXPECT_GE(report.weights, 2 * matrices + 4 * norms);
  EXPECT_LT(report.weights,
            2 * matrices + matrices / 16 + 4 * norms + (1 << 24));
  // Keys and values of 8 heads of 128 in 32 layers, of two bytes.
  EXPECT_EQ(report.cache, uint64_t{8192} * 2 * 8 * 128 * 32 * 2);
  EXPECT_EQ(report.context_length, 8192);
}

// The tensors are found layer by layer, but not by looking at
// all of the file for each.
TEST(Estimate, IsFastForManyLayers) {
  RC_TEST_LABELS(kSerial);
  const Backend backend = open_backend("reference");
  OrderedJson json = eight_billion();
  json["block_count"] = 1024;
  for (const char* name : {"embedding_length", "feed_forward_length"}) {
    json[name] = 256;
  }
  Plan plan;
  ASSERT_OK(try_estimate(backend.get(), json.dump(), "F32", nullptr, plan));
  // Keys and values are of 64 elements here.
  const uint64_t of_layer =
      2 * 256 * 256 + 2 * 64 * 256 + 3 * 256 * 256 + 2 * 256;
  EXPECT_GE(report_of(plan.get()).weights, 1024 * 4 * of_layer);
}

TEST(Estimate, QuantizedTypeMatchesAQuantizedFile) {
  RC_TEST_LABELS(kSerial);
  const Backend backend = open_backend("cpu");
  const std::string path =
      source_path("tests/golden/architectures/llama2.gguf").string();
  OrderedJson json = hyper_parameters_of(path);
  json["tensors"] = {"output.weight"};
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  for (const char* type : {"Q8_0", "q4_0", "Q4_K_M"}) {
    options.quantize = type;
    const rc_plan_report expected =
        report_of(plan_model(backend.get(), path, &options).get());
    Plan plan;
    ASSERT_OK(try_estimate(backend.get(), json.dump(), type, nullptr, plan));
    EXPECT_EQ(report_of(plan.get()).weights, expected.weights) << type;
    ASSERT_OK(try_estimate(backend.get(), json.dump(), "F32", &options, plan));
    EXPECT_EQ(report_of(plan.get()).weights, expected.weights) << type;
  }
}

TEST(Estimate, AcceptsFullMetadataKeys) {
  RC_TEST_LABELS(kSerial);
  const Backend backend = open_backend();
  OrderedJson small = eight_billion();
  small["block_count"] = 2;
  OrderedJson whole = OrderedJson::object();
  for (const auto& [key, value] : small.items()) {
    whole[key == "architecture" ? "general.architecture"
          : key == "tensors"    ? "tensors"
                                : "llama." + key] = value;
  }
  Plan one, other;
  ASSERT_OK(try_estimate(backend.get(), small.dump(), nullptr, nullptr, one));
  ASSERT_OK(try_estimate(backend.get(), whole.dump(), "", nullptr, other));
  expect_equal(report_of(one.get()), report_of(other.get()));
}

TEST(Estimate, RefusesInvalidDescriptions) {
  RC_TEST_LABELS(kSerial);
  const Backend backend = open_backend();
  Plan plan;
  const auto text = [&](const char* json) {
    return try_estimate(backend.get(), json, nullptr, nullptr, plan);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, text(""), "hyper-parameters");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, text("[1]"), "an array");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, text("{}"), "\"architecture\"");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, text("{\"architecture\": 3}"), "a text");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_model_estimate(nullptr, nullptr, nullptr, backend.get(), nullptr),
      "plan: NULL");
  OrderedJson json = eight_billion();
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, refused(backend.get(), json, "Q99"),
               "Q99");
  json["architecture"] = "phantom";
  EXPECT_FAILS(RC_E_UNSUPPORTED, refused(backend.get(), json), "phantom");
  for (const char* key :
       {"vocab_size", "block_count", "embedding_length", "context_length",
        "feed_forward_length", "attention.head_count"}) {
    json = eight_billion();
    json.erase(key);
    EXPECT_FAILS(RC_E_FORMAT, refused(backend.get(), json),
                 std::string("llama.") + key);
  }
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, OrderedJson>>{
           {"vocab_size", 0},
           {"vocab_size", int64_t{1} << 40},
           {"block_count", -1},
           {"block_count", 100'000'000},
           {"embedding_length", "wide"},
           {"embedding_length", 1.5},
           {"embedding_length", "4096"},
           {"attention.head_count", 0},
           {"rope.freq_base", true}}) {
    json = eight_billion();
    json[key] = value;
    EXPECT_NE(refused(backend.get(), json), RC_OK) << key << " " << value;
    EXPECT_NE(std::string(rc_error_message()).find(key), std::string::npos)
        << rc_error_message();
  }
  json = eight_billion();
  json["tensors"] = {"blk.*.unheard_of.weight"};
  EXPECT_FAILS(RC_E_UNSUPPORTED, refused(backend.get(), json), "unheard_of");
  json["tensors"] = {3};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, refused(backend.get(), json), "names");
  json["tensors"] = {{"output.weight", {1, 2, 3, 4, 5}}};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, refused(backend.get(), json),
               "output.weight");
  json["tensors"] = {{"output.weight", {0, 2}}};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, refused(backend.get(), json),
               "at least 1");
  json["tensors"] = {{"output.weight", {7, 7}}};
  EXPECT_FAILS(RC_E_FORMAT, refused(backend.get(), json), "output.weight",
               "[128256, 4096]");
  json["tensors"] = {std::string(65, 'x')};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, refused(backend.get(), json), "64");
}

}  // namespace
}  // namespace rc::test
