// Model files, plans, models and tokenizers.
#include <cstdint>

#include "hub/fake_hub.h"
#include "runcible/convert.h"
#include "scenarios.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Info = std::unique_ptr<rc_model_info, Release<rc_model_info_release>>;

// The file of model_path() in memory.
rc_model_memory in_memory() {
  static const std::string content = content_of_file(model_path());
  rc_model_memory memory = RC_MODEL_MEMORY_INIT;
  memory.data = content.data();
  memory.size = content.size();
  return memory;
}

rc_status look_into(rc_model_info* info) {
  RC_CALL(rc_model_info_release)(RC_CALL(rc_model_info_retain)(info));
  const size_t values = RC_CALL(rc_model_info_metadata_count)(info);
  for (size_t i = 0; i < values; ++i) {
    const char* key = nullptr;
    const char* type = nullptr;
    RC_TRY(RC_CALL(rc_model_info_metadata)(info, i, &key, &type));
    char* json = nullptr;
    RC_TRY(RC_CALL(rc_model_info_value)(info, key, 3, &json));
    rc_free(json);
  }
  const size_t tensors = RC_CALL(rc_model_info_tensor_count)(info);
  rc_tensor_report report = RC_TENSOR_REPORT_INIT;
  return RC_CALL(rc_model_info_tensor)(info, tensors - 1, &report);
}

rc_status files(World&) {
  rc_model_info* opened = nullptr;
  RC_TRY(RC_CALL(rc_model_info_open)(model_path().c_str(), &opened));
  const Info info(opened);
  RC_TRY(look_into(opened));
  opened = nullptr;
  const rc_model_memory memory = in_memory();
  RC_TRY(RC_CALL(rc_model_info_open_memory)(&memory, &opened));
  const Info same(opened);
  RC_TRY(RC_CALL(rc_model_verify)(model_path().c_str()));
  return RC_CALL(rc_model_verify_memory)(&memory);
}

rc_status folders(World&) {
  const std::string folder = source_path("tests/golden/folders/qwen2").string();
  rc_model_info* opened = nullptr;
  RC_TRY(RC_CALL(rc_model_info_open)(folder.c_str(), &opened));
  const Info info(opened);
  return look_into(opened);
}

rc_status converting(World& world) {
  const std::string folder = source_path("tests/golden/folders/qwen2").string();
  const std::string to = world.path("converted.gguf");
  RC_TRY(RC_CALL(rc_model_convert)(folder.c_str(), to.c_str(), "bf16", nullptr,
                                   nullptr));
  End end;
  return await(RC_CALL(rc_model_convert_async)(
                   folder.c_str(), to.c_str(), nullptr, nullptr, nullptr,
                   world.loop.get(),
                   [](void* user, rc_status status, const char*) {
                     static_cast<End*>(user)->receive(status);
                   },
                   &end),
               world.loop.get(), end);
}

rc_status quantizing(World& world) {
  const std::string to = world.path("quantized.gguf");
  rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
  options.type = "q8_0";
  options.threads = 1;
  RC_TRY(
      RC_CALL(rc_model_quantize)(model_path().c_str(), to.c_str(), &options));
  End end;
  return await(RC_CALL(rc_model_quantize_async)(
                   model_path().c_str(), to.c_str(), &options, world.loop.get(),
                   [](void* user, rc_status status, const char*) {
                     static_cast<End*>(user)->receive(status);
                   },
                   &end),
               world.loop.get(), end);
}

rc_status look_into(rc_plan* plan) {
  RC_CALL(rc_plan_release)(RC_CALL(rc_plan_retain)(plan));
  rc_plan_report report = RC_PLAN_REPORT_INIT;
  RC_TRY(RC_CALL(rc_plan_describe)(plan, &report));
  rc_plan_device_report device = RC_PLAN_DEVICE_REPORT_INIT;
  RC_TRY(RC_CALL(rc_plan_device)(plan, 0, &device));
  for (int32_t i = 0; i < report.offer_count; ++i) {
    rc_plan_offer_report offer = RC_PLAN_OFFER_REPORT_INIT;
    RC_TRY(RC_CALL(rc_plan_offer)(plan, static_cast<size_t>(i), &offer));
  }
  return RC_OK;
}

rc_status plans(World& world) {
  rc_plan* made = nullptr;
  RC_TRY(RC_CALL(rc_model_plan)(model_path().c_str(), nullptr, world.cpu.get(),
                                &made));
  const Plan plan(made);
  RC_TRY(look_into(made));
  const rc_model_memory memory = in_memory();
  made = nullptr;
  RC_TRY(
      RC_CALL(rc_model_plan_memory)(&memory, nullptr, world.cpu.get(), &made));
  const Plan same(made);
  return RC_OK;
}

// A model that does not fit, so that other ways of loading it are offered.
rc_status offers(World& world) {
  static const rc_model_options options = [] {
    rc_model_options made = RC_MODEL_OPTIONS_INIT;
    made.context_length = made.cache_tokens = 64;
    return made;
  }();
  static const uint64_t total =
      report_of(plan_model(world.cpu.get(), model_path(), &options).get())
          .total;
  rc_backend_options limits = RC_BACKEND_OPTIONS_INIT;
  limits.threads = 1;
  limits.memory_limit = total - 1;
  rc_backend* opened = nullptr;
  RC_TRY(RC_CALL(rc_backend_open)("cpu", &limits, &opened));
  const Backend backend(opened);
  rc_plan* made = nullptr;
  RC_TRY(RC_CALL(rc_model_plan)(model_path().c_str(), &options, opened, &made));
  const Plan plan(made);
  rc_plan_report report = RC_PLAN_REPORT_INIT;
  RC_TRY(RC_CALL(rc_plan_describe)(made, &report));
  EXPECT_GT(report.offer_count, 0);
  return look_into(made);
}

rc_status estimates(World& world) {
  rc_plan* made = nullptr;
  RC_TRY(RC_CALL(rc_model_estimate)(
      R"({"architecture": "llama", "vocab_size": 128256,
          "context_length": 8192, "block_count": 4,
          "embedding_length": 1024, "feed_forward_length": 4096,
          "attention.head_count": 16, "attention.head_count_kv": 8,
          "attention.layer_norm_rms_epsilon": 1e-5,
          "tensors": ["output.weight"]})",
      "q4_0", nullptr, world.cpu.get(), &made));
  const Plan plan(made);
  return look_into(made);
}

void model_end(void* user, rc_status status, const char*, rc_model* model) {
  rc_model_release(model);
  static_cast<End*>(user)->receive(status);
}

rc_status models(World& world) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 32;
  rc_model* loaded = nullptr;
  RC_TRY(RC_CALL(rc_model_load)(world.cpu.get(), model_path().c_str(), &options,
                                &loaded));
  const Model model(loaded);
  RC_CALL(rc_model_release)(RC_CALL(rc_model_retain)(loaded));
  rc_model_report report = RC_MODEL_REPORT_INIT;
  RC_TRY(RC_CALL(rc_model_describe)(loaded, &report));
  rc_model_info* info = nullptr;
  RC_TRY(RC_CALL(rc_model_get_info)(loaded, &info));
  rc_model_info_release(info);
  rc_tokenizer* tokenizer = nullptr;
  RC_TRY(RC_CALL(rc_model_get_tokenizer)(loaded, &tokenizer));
  rc_tokenizer_release(tokenizer);
  End end;
  return await(
      RC_CALL(rc_model_load_async)(world.reference.get(), model_path().c_str(),
                                   &options, world.loop.get(), model_end, &end),
      world.loop.get(), end);
}

rc_status models_in_memory(World& world) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 32;
  const rc_model_memory memory = in_memory();
  rc_model* loaded = nullptr;
  RC_TRY(RC_CALL(rc_model_load_memory)(world.cpu.get(), &memory, &options,
                                       &loaded));
  rc_model_release(loaded);
  End end;
  return await(RC_CALL(rc_model_load_memory_async)(
                   world.reference.get(), &memory, &options, world.loop.get(),
                   model_end, &end),
               world.loop.get(), end);
}

void tokenize_end(void* user, rc_status status, const char*, const int32_t*,
                  size_t) {
  static_cast<End*>(user)->receive(status);
}

rc_status tokenizers(World& world) {
  rc_tokenizer* opened = nullptr;
  RC_TRY(RC_CALL(rc_tokenizer_open)(model_path().c_str(), &opened));
  const Tokenizer tokenizer(opened);
  RC_CALL(rc_tokenizer_release)(RC_CALL(rc_tokenizer_retain)(opened));
  rc_tokenizer_report report = RC_TOKENIZER_REPORT_INIT;
  RC_TRY(RC_CALL(rc_tokenizer_describe)(opened, &report));
  int32_t* tokens = nullptr;
  size_t count = 0;
  RC_TRY(RC_CALL(rc_tokenize)(opened, "hello there", 11,
                              RC_TOKENIZE_ADD_SPECIAL, &tokens, &count));
  char* text = nullptr;
  size_t length = 0;
  const rc_status status =
      RC_CALL(rc_detokenize)(opened, tokens, count, 1, &text, &length);
  rc_free(tokens);
  rc_free(text);
  RC_TRY(status);
  End end;
  RC_TRY(await(RC_CALL(rc_tokenize_async)(opened, "hello", 5, 0,
                                          world.loop.get(), tokenize_end, &end),
               world.loop.get(), end));
  const rc_model_memory memory = in_memory();
  opened = nullptr;
  RC_TRY(RC_CALL(rc_tokenizer_open_memory)(&memory, &opened));
  rc_tokenizer_release(opened);
  return RC_OK;
}

}  // namespace

std::vector<Scenario> file_scenarios() {
  return {{"files", files, 100},
          {"folders", folders, 50},
          {"converting", converting, 20},
          {"quantizing", quantizing, 50}};
}

std::vector<Scenario> model_scenarios() {
  return {{"plans", plans, 50},
          {"offers", offers, 50},
          {"estimates", estimates, 50},
          {"models", models, 30},
          {"models_in_memory", models_in_memory, 30},
          {"tokenizers", tokenizers, 50}};
}

}  // namespace rc::test
