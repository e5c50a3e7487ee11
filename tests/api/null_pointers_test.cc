// Pointers that must not be NULL, by the name in the message.
#include <string>
#include <vector>

#include "api/api_util.h"
#include "runcible/config.h"
#include "runcible/convert.h"
#include "runcible/custom_op.h"
#include "runcible/embed.h"
#include "runcible/evaluate.h"
#include "runcible/fetch.h"
#include "runcible/graph.h"
#include "runcible/op_backend.h"

namespace rc::test {
namespace {

#define EXPECT_NULL(NAME, CALL)                               \
  do {                                                        \
    EXPECT_EQ((CALL), RC_E_INVALID_ARGUMENT) << #CALL;        \
    EXPECT_STREQ(rc_error_message(), NAME ": NULL") << #CALL; \
  } while (0)

class NullPointers : public testing::Test {
 protected:
  const Backend backend_ = open_backend();
  const Model model_ = load_model(backend_.get());
};

TEST_F(NullPointers, CallbacksAreNamed) {
  const std::string path = model_path();
  EXPECT_NULL("callback",
              rc_discover_async(nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_NULL("callback", rc_backend_open_async("reference", nullptr, nullptr,
                                                nullptr, nullptr));
  EXPECT_NULL("callback",
              rc_backend_switch_async(backend_.get(), "cpu", nullptr, nullptr,
                                      nullptr, nullptr));
  EXPECT_NULL("callback",
              rc_model_load_async(backend_.get(), path.c_str(), nullptr,
                                  nullptr, nullptr, nullptr));
  EXPECT_NULL("callback", rc_model_convert_async(path.c_str(), "/nowhere/x",
                                                 "Q8_0", nullptr, nullptr,
                                                 nullptr, nullptr, nullptr));
  rc_evaluate_options evaluate = RC_EVALUATE_OPTIONS_INIT;
  evaluate.text = "a";
  evaluate.text_length = 1;
  EXPECT_NULL("callback", rc_model_evaluate_async(model_.get(), &evaluate,
                                                  nullptr, nullptr, nullptr));
  rc_importance_options importance = RC_IMPORTANCE_OPTIONS_INIT;
  importance.text = "a";
  importance.text_length = 1;
  EXPECT_NULL("callback",
              rc_model_importance_async(model_.get(), "/nowhere/x", &importance,
                                        nullptr, nullptr, nullptr));
  EXPECT_NULL("callback", rc_model_fetch_async("hf:a/b", nullptr, nullptr,
                                               nullptr, nullptr));
}

TEST_F(NullPointers, ArgumentsOfTenantsAreNamed) {
  EXPECT_NULL("tenant", rc_tenant_create(nullptr, nullptr));
  rc_tenant* tenant = nullptr;
  ASSERT_OK(rc_tenant_create(nullptr, &tenant));
  EXPECT_NULL("options", rc_tenant_change(tenant, nullptr));
  EXPECT_NULL("report", rc_tenant_usage(tenant, nullptr));
  EXPECT_NULL("text", rc_tenant_metrics(tenant, RC_METRICS_JSON, nullptr));
  char* json = nullptr;
  EXPECT_NULL("prices", rc_tenant_bill(tenant, nullptr, nullptr, &json));
  EXPECT_NULL("json", rc_tenant_bill(tenant, "{}", nullptr, nullptr));
  char* text = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tenant_metrics(tenant, 2, &text),
               "format: 2 is not within 0 to 1");
  rc_tenant_release(tenant);
}

TEST_F(NullPointers, TextsAreNamed) {
  const std::string path = model_path();
  char* text = nullptr;
  size_t count = 0;
  EXPECT_NULL("key", rc_config_set(nullptr, "1"));
  EXPECT_NULL("json", rc_config_report(nullptr));
  EXPECT_NULL(
      "to", rc_model_convert(path.c_str(), nullptr, "Q8_0", nullptr, nullptr));
  EXPECT_NULL("source", rc_model_fetch(nullptr, nullptr, &text));
  EXPECT_NULL("path", rc_model_fetch("hub:a/b", nullptr, nullptr));
  EXPECT_NULL("json", rc_cached_models("/nowhere", nullptr));
  EXPECT_NULL("source", rc_cached_model_remove(nullptr, nullptr, &count));
  EXPECT_NULL("hyper_parameters", [&] {
    rc_plan* plan = nullptr;
    return rc_model_estimate(nullptr, nullptr, nullptr, backend_.get(), &plan);
  }());
  EXPECT_NULL("json", rc_backend_explain(backend_.get(), nullptr));
  EXPECT_NULL("json", rc_backend_trace(backend_.get(), nullptr));
  EXPECT_NULL("backend", rc_op_backend_register(nullptr));
  EXPECT_NULL("name", rc_op_backend_unregister(nullptr));
  rc_custom_op* op = nullptr;
  EXPECT_NULL("options", rc_custom_op_create(nullptr, &op));
  EXPECT_EQ(op, nullptr);
}

TEST_F(NullPointers, QuantizeArgumentsAreNamed) {
  const std::string path = model_path();
  rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
  options.type = nullptr;
  EXPECT_NULL("options->type",
              rc_model_quantize(path.c_str(), "/nowhere/x", &options));
  options.type = "Q8_0";
  EXPECT_NULL("callback",
              rc_model_quantize_async(path.c_str(), "/nowhere/x", &options,
                                      nullptr, nullptr, nullptr));
  options.tensor_count = 1;
  EXPECT_NULL("options->tensors",
              rc_model_quantize(path.c_str(), "/nowhere/x", &options));
  const char* const tensors[] = {nullptr};
  options.tensors = tensors;
  EXPECT_NULL("options->tensors[0]",
              rc_model_quantize(path.c_str(), "/nowhere/x", &options));
}

TEST_F(NullPointers, SessionArgumentsAreNamed) {
  const Session session = create_session(model_.get());
  const float* logits = nullptr;
  size_t rows = 0, columns = 0, count = 0;
  int32_t* tokens = nullptr;
  void* data = nullptr;
  EXPECT_NULL("logits",
              rc_session_logits(session.get(), nullptr, &rows, &columns));
  EXPECT_NULL("rows",
              rc_session_logits(session.get(), &logits, nullptr, &columns));
  EXPECT_NULL("vocabulary",
              rc_session_logits(session.get(), &logits, &rows, nullptr));
  EXPECT_NULL("rows", rc_session_append_embeddings(session.get(), nullptr));
  EXPECT_NULL("position", rc_session_position(session.get(), nullptr));
  EXPECT_NULL("tokens", rc_session_tokens(session.get(), nullptr, &count));
  EXPECT_NULL("count", rc_session_tokens(session.get(), &tokens, nullptr));
  EXPECT_NULL("path", rc_session_save(session.get(), nullptr));
  EXPECT_NULL("data", rc_session_save_memory(session.get(), nullptr, &count));
  EXPECT_NULL("size", rc_session_save_memory(session.get(), &data, nullptr));
  rc_session* restored = nullptr;
  EXPECT_NULL("path",
              rc_session_restore(model_.get(), nullptr, nullptr, &restored));
}

TEST_F(NullPointers, GenerateArgumentsAreNamed) {
  const Session session = create_session(model_.get());
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "a";
  options.prompt_length = 1;
  options.max_tokens = 1;
  EXPECT_NULL("text",
              rc_generate(session.get(), &options, nullptr, nullptr, nullptr));
  EXPECT_NULL("request (there is no callback)",
              rc_generate_async(session.get(), &options, nullptr, nullptr,
                                nullptr, nullptr));
  rc_request* made = nullptr;
  ASSERT_OK(rc_generate_async(session.get(), &options, nullptr, nullptr,
                              nullptr, &made));
  const Request request(made);
  EXPECT_NULL("event", rc_request_next(made, -1, nullptr));
  EXPECT_OK(rc_request_wait(made, -1));
}

TEST_F(NullPointers, TokenizerArgumentsAreNamed) {
  rc_tokenizer* made = nullptr;
  ASSERT_OK(rc_model_get_tokenizer(model_.get(), &made));
  const Tokenizer tokenizer(made);
  int32_t* tokens = nullptr;
  size_t count = 0;
  EXPECT_NULL("tokens", rc_tokenize(made, "a", 1, 0, nullptr, &count));
  EXPECT_NULL("count", rc_tokenize(made, "a", 1, 0, &tokens, nullptr));
  EXPECT_NULL("text", rc_detokenize(made, nullptr, 0, 0, nullptr, nullptr));
}

TEST_F(NullPointers, GrammarArgumentsAreNamed) {
  rc_tokenizer* made = nullptr;
  ASSERT_OK(rc_model_get_tokenizer(model_.get(), &made));
  const Tokenizer tokenizer(made);
  rc_grammar* grammar = nullptr;
  ASSERT_OK(
      rc_grammar_create(made, RC_GRAMMAR_REGEX, "ab*", 3, nullptr, &grammar));
  rc_grammar_matcher* matcher = nullptr;
  ASSERT_OK(rc_grammar_matcher_create(grammar, &matcher));
  int32_t* tokens = nullptr;
  size_t count = 0;
  EXPECT_NULL("mask", rc_grammar_matcher_mask(matcher, nullptr, 100));
  EXPECT_NULL("accepted",
              rc_grammar_matcher_accept(matcher, nullptr, 0, nullptr));
  EXPECT_NULL("accepted",
              rc_grammar_matcher_accept_text(matcher, "a", 1, nullptr));
  EXPECT_NULL("tokens", rc_grammar_matcher_forced(matcher, nullptr, &count));
  EXPECT_NULL("count", rc_grammar_matcher_forced(matcher, &tokens, nullptr));
  EXPECT_NULL("accepting", rc_grammar_matcher_is_accepting(matcher, nullptr));
  rc_grammar_matcher_release(matcher);
  rc_grammar_release(grammar);
}

TEST_F(NullPointers, ModelFileArgumentsAreNamed) {
  rc_model_info* info = nullptr;
  ASSERT_OK(rc_model_info_open(model_path().c_str(), &info));
  const char *key = nullptr, *type = nullptr;
  char* json = nullptr;
  EXPECT_NULL("key", rc_model_info_metadata(info, 0, nullptr, &type));
  EXPECT_NULL("type", rc_model_info_metadata(info, 0, &key, nullptr));
  EXPECT_NULL("key", rc_model_info_value(info, nullptr, 10, &json));
  EXPECT_NULL("json",
              rc_model_info_value(info, "general.architecture", 10, nullptr));
  rc_model_info_release(info);
  EXPECT_NULL("memory", rc_model_info_open_memory(nullptr, &info));
  rc_model_memory memory = RC_MODEL_MEMORY_INIT;
  EXPECT_NULL("memory->data", rc_model_info_open_memory(&memory, &info));
  EXPECT_NULL("report", rc_model_evaluate(model_.get(), nullptr, nullptr));
}

TEST_F(NullPointers, LoopAndTensorArgumentsAreNamed) {
  rc_loop* loop = nullptr;
  EXPECT_NULL("uv_loop", rc_loop_uv(nullptr, &loop));
  ASSERT_OK(rc_loop_create(&loop));
  EXPECT_NULL("fd", rc_loop_fd(loop, nullptr));
  rc_loop_handle_kind kind = 0;
  intptr_t handle = 0;
  EXPECT_NULL("kind", rc_loop_handle(loop, nullptr, &handle));
  EXPECT_NULL("handle", rc_loop_handle(loop, &kind, nullptr));
  rc_loop_release(loop);
  const int64_t shape[] = {2};
  rc_tensor* tensor = nullptr;
  ASSERT_OK(rc_tensor_ones(backend_.get(), RC_DTYPE_F32, shape, 1, &tensor));
  EXPECT_NULL("dtype", rc_tensor_dtype(tensor, nullptr));
  EXPECT_NULL("device", rc_tensor_device(tensor, nullptr));
  EXPECT_NULL("callback", rc_tensor_to_async(tensor, backend_.get(), nullptr,
                                             nullptr, nullptr, nullptr));
  rc_tokenizer* tokenizer = nullptr;
  ASSERT_OK(rc_model_get_tokenizer(model_.get(), &tokenizer));
  EXPECT_NULL("callback", rc_tokenize_async(tokenizer, "a", 1, 0, nullptr,
                                            nullptr, nullptr));
  rc_tokenizer_release(tokenizer);
  const Session session = create_session(model_.get());
  EXPECT_NULL("callback", rc_session_decode_async(session.get(), 0, nullptr,
                                                  nullptr, nullptr));
  EXPECT_NULL("callback", rc_session_move_async(session.get(), model_.get(),
                                                nullptr, nullptr, nullptr));
  rc_tensor* borrowed = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_borrow(backend_.get(), RC_DTYPE_F32, shape, 1, nullptr,
                                8, nullptr, nullptr, &borrowed),
               "data: NULL, but its length is 8");
  rc_tensor_release(tensor);
}

}  // namespace
}  // namespace rc::test
