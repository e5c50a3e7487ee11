// NULL, foreign and released handles, for every function that takes one.
#include <functional>

#include "api_util.h"

namespace rc::test {
namespace {

// Calls of every function that takes a handle of kind T and can fail.
template <class T>
using Calls = std::vector<std::pair<const char*, std::function<rc_status(T*)>>>;

template <class T>
void expect_refused(const Calls<T>& calls, T* handle, const char* text) {
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(call(handle), RC_E_INVALID_ARGUMENT) << name;
    EXPECT_NE(std::string(rc_error_message()).find(text), std::string::npos)
        << name << ": " << rc_error_message();
  }
}

// `released` was a handle of this kind; `other` is a live one of another kind.
template <class T>
void expect_all_refused(const Calls<T>& calls, T* released, void* other) {
  alignas(16) char foreign[256] = {};
  expect_refused<T>(calls, nullptr, "NULL");
  expect_refused(calls, reinterpret_cast<T*>(foreign), "is no rc_");
  expect_refused(calls, released, "released");
  expect_refused(calls, static_cast<T*>(other), "is no rc_");
}

class Handles : public testing::Test {
 protected:
  const Backend backend_ = open_backend();
  const Model model_ = load_model(backend_.get());
  const Session session_ = create_session(model_.get());
};

TEST_F(Handles, InvalidBackendsAreRefused) {
  const Calls<rc_backend> calls = {
      {"explain",
       [](auto* h) {
         const char* json = nullptr;
         return rc_backend_explain(h, &json);
       }},
      {"device",
       [](auto* h) {
         rc_device_report report = RC_DEVICE_REPORT_INIT;
         return rc_backend_device(h, &report);
       }},
      {"usage",
       [](auto* h) {
         rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
         return rc_backend_usage(h, &report);
       }},
      {"plan",
       [](auto* h) { return try_plan(h, model_path().c_str(), nullptr); }},
      {"load",
       [](auto* h) {
         rc_model* model = nullptr;
         return rc_model_load(h, model_path().c_str(), nullptr, &model);
       }},
      {"load_async",
       [](auto* h) {
         return rc_model_load_async(
             h, model_path().c_str(), nullptr, nullptr,
             [](void*, rc_status, const char*, rc_model*) { FAIL(); }, nullptr);
       }},
  };
  rc_backend* released = open_backend().release();
  rc_backend_release(released);
  expect_all_refused(calls, released, session_.get());
  EXPECT_EQ(rc_backend_retain(released), nullptr);
  EXPECT_EQ(rc_backend_retain(nullptr), nullptr);
  rc_backend_release(released);
  rc_backend_release(nullptr);
}

TEST_F(Handles, InvalidTenantsAreRefused) {
  const Calls<rc_tenant> calls = {
      {"open",
       [](auto* h) {
         // Without a tenant a handle gets a separate one.
         if (h == nullptr) return rc_tenant_change(h, nullptr);
         rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
         options.tenant = h;
         rc_backend* backend = nullptr;
         return rc_backend_open("reference", &options, &backend);
       }},
      {"change",
       [](auto* h) {
         const rc_tenant_options options = RC_TENANT_OPTIONS_INIT;
         return rc_tenant_change(h, &options);
       }},
      {"usage",
       [](auto* h) {
         rc_tenant_usage_report report = RC_TENANT_USAGE_REPORT_INIT;
         return rc_tenant_usage(h, &report);
       }},
      {"metrics",
       [](auto* h) {
         // Without a tenant they are those of all.
         if (h == nullptr) return rc_tenant_change(h, nullptr);
         char* text = nullptr;
         return rc_tenant_metrics(h, RC_METRICS_JSON, &text);
       }},
      {"bill",
       [](auto* h) {
         char* json = nullptr;
         return rc_tenant_bill(h, "{}", nullptr, &json);
       }},
  };
  rc_tenant* released = nullptr;
  ASSERT_OK(rc_tenant_create(nullptr, &released));
  rc_tenant_release(released);
  expect_all_refused(calls, released, backend_.get());
  EXPECT_EQ(rc_tenant_retain(released), nullptr);
  rc_tenant_release(released);
  rc_tenant_release(nullptr);
}

TEST_F(Handles, InvalidModelsAreRefused) {
  const Calls<rc_model> calls = {
      {"describe",
       [](auto* h) {
         rc_model_report report = RC_MODEL_REPORT_INIT;
         return rc_model_describe(h, &report);
       }},
      {"get_info",
       [](auto* h) {
         rc_model_info* info = nullptr;
         return rc_model_get_info(h, &info);
       }},
      {"get_tokenizer",
       [](auto* h) {
         rc_tokenizer* tokenizer = nullptr;
         return rc_model_get_tokenizer(h, &tokenizer);
       }},
      {"create",
       [](auto* h) {
         rc_session* session = nullptr;
         return rc_session_create(h, nullptr, &session);
       }},
      {"restore",
       [](auto* h) {
         rc_session* session = nullptr;
         return rc_session_restore(h, "file", nullptr, &session);
       }},
      {"restore_memory",
       [](auto* h) {
         rc_session* session = nullptr;
         return rc_session_restore_memory(h, "", 0, nullptr, &session);
       }},
      {"migrate",
       [this](auto* h) {
         rc_session* session = nullptr;
         return rc_session_migrate(session_.get(), h, &session);
       }},
      {"move", [this](auto* h) { return rc_session_move(session_.get(), h); }},
  };
  rc_model* released = load_model(backend_.get()).release();
  rc_model_release(released);
  expect_all_refused(calls, released, backend_.get());
  EXPECT_EQ(rc_model_retain(released), nullptr);
  rc_model_release(released);
  rc_model_release(nullptr);
}

TEST_F(Handles, InvalidSessionsAreRefused) {
  const Calls<rc_session> calls = {
      {"append",
       [](auto* h) {
         const int32_t token = 1;
         return rc_session_append(h, &token, 1);
       }},
      {"append_text",
       [](auto* h) { return rc_session_append_text(h, "a", 1, 0); }},
      {"append_embeddings",
       [](auto* h) { return rc_session_append_embeddings(h, nullptr); }},
      {"decode", [](auto* h) { return rc_session_decode(h, 0); }},
      {"logits",
       [](auto* h) {
         const float* logits = nullptr;
         size_t rows = 0, vocabulary = 0;
         return rc_session_logits(h, &logits, &rows, &vocabulary);
       }},
      {"position",
       [](auto* h) {
         int64_t position = 0;
         return rc_session_position(h, &position);
       }},
      {"tokens",
       [](auto* h) {
         int32_t* tokens = nullptr;
         size_t count = 0;
         return rc_session_tokens(h, &tokens, &count);
       }},
      {"truncate", [](auto* h) { return rc_session_truncate(h, 0); }},
      {"fork",
       [](auto* h) {
         rc_session* fork = nullptr;
         return rc_session_fork(h, &fork);
       }},
      {"save", [](auto* h) { return rc_session_save(h, "file"); }},
      {"save_memory",
       [](auto* h) {
         void* data = nullptr;
         size_t size = 0;
         return rc_session_save_memory(h, &data, &size);
       }},
      {"migrate",
       [this](auto* h) {
         rc_session* session = nullptr;
         return rc_session_migrate(h, model_.get(), &session);
       }},
      {"move", [this](auto* h) { return rc_session_move(h, model_.get()); }},
      {"generate",
       [](auto* h) {
         char* text = nullptr;
         return rc_generate(h, nullptr, &text, nullptr, nullptr);
       }},
      {"generate_async",
       [](auto* h) {
         rc_request* request = nullptr;
         return rc_generate_async(h, nullptr, nullptr, nullptr, nullptr,
                                  &request);
       }},
  };
  rc_session* released = create_session(model_.get()).release();
  rc_session_release(released);
  expect_all_refused(calls, released, model_.get());
  EXPECT_EQ(rc_session_retain(released), nullptr);
  rc_session_release(released);
  rc_session_release(nullptr);
}

TEST_F(Handles, InvalidLoopsAndRequestsAreRefused) {
  const Calls<rc_loop> calls = {
      {"fd",
       [](auto* h) {
         int32_t fd = 0;
         return rc_loop_fd(h, &fd);
       }},
      {"handle",
       [](auto* h) {
         rc_loop_handle_kind kind = 0;
         intptr_t handle = 0;
         return rc_loop_handle(h, &kind, &handle);
       }},
      {"dispatch", [](auto* h) { return rc_loop_dispatch(h, 0, nullptr); }},
      {"wait", [](auto* h) { return rc_loop_wait(h, 0); }},
      {"close", [](auto* h) { return rc_loop_close(h); }},
  };
  rc_loop* loop = nullptr;
  ASSERT_OK(rc_loop_create(&loop));
  EXPECT_EQ(rc_loop_retain(loop), loop);
  rc_loop_release(loop);
  rc_loop_release(loop);
  expect_all_refused(calls, loop, model_.get());
  EXPECT_EQ(rc_loop_retain(loop), nullptr);

  const Calls<rc_request> request_calls = {
      {"cancel", [](auto* h) { return rc_request_cancel(h); }},
      {"next",
       [](auto* h) {
         rc_event event = RC_EVENT_INIT;
         return rc_request_next(h, 0, &event);
       }},
      {"wait", [](auto* h) { return rc_request_wait(h, 0); }},
  };
  rc_request* request = nullptr;
  ASSERT_OK(rc_generate_async(session_.get(), nullptr, nullptr, nullptr,
                              nullptr, &request));
  rc_request_release(request);
  expect_all_refused(request_calls, request, model_.get());
  EXPECT_EQ(rc_request_retain(request), nullptr);
  rc_request_release(request);
  rc_request_release(nullptr);
}

TEST_F(Handles, InvalidGrammarsAndMatchersAreRefused) {
  rc_tokenizer* tokenizer = nullptr;
  rc_grammar* grammar = nullptr;
  rc_grammar_matcher* matcher = nullptr;
  ASSERT_OK(rc_model_get_tokenizer(model_.get(), &tokenizer));
  ASSERT_OK(rc_grammar_create(tokenizer, RC_GRAMMAR_REGEX, "a", 1, nullptr,
                              &grammar));
  ASSERT_OK(rc_grammar_matcher_create(grammar, &matcher));
  rc_tokenizer_release(tokenizer);
  rc_grammar_release(grammar);
  rc_grammar_matcher_release(matcher);
  const Calls<rc_grammar> calls = {
      {"matcher_create",
       [](auto* h) {
         rc_grammar_matcher* made = nullptr;
         return rc_grammar_matcher_create(h, &made);
       }},
      {"generate",
       [this](auto* h) {
         rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
         options.grammar = h;
         options.max_tokens = 1;
         char* text = nullptr;
         const rc_status status =
             rc_generate(session_.get(), &options, &text, nullptr, nullptr);
         rc_free(text);
         // Without a grammar anything may be generated.
         if (h != nullptr) return status;
         EXPECT_EQ(status, RC_OK);
         return rc_grammar_matcher_create(h, nullptr);
       }},
  };
  const Calls<rc_grammar_matcher> matcher_calls = {
      {"mask",
       [](auto* h) {
         uint32_t mask[16] = {};
         return rc_grammar_matcher_mask(h, mask, 16);
       }},
      {"accept",
       [](auto* h) {
         const int32_t token = 1;
         size_t accepted = 0;
         return rc_grammar_matcher_accept(h, &token, 1, &accepted);
       }},
      {"accept_text",
       [](auto* h) {
         int32_t accepted = 0;
         return rc_grammar_matcher_accept_text(h, "a", 1, &accepted);
       }},
      {"forced",
       [](auto* h) {
         int32_t* tokens = nullptr;
         size_t count = 0;
         return rc_grammar_matcher_forced(h, &tokens, &count);
       }},
      {"is_accepting",
       [](auto* h) {
         int32_t accepting = 0;
         return rc_grammar_matcher_is_accepting(h, &accepting);
       }},
      {"rollback", [](auto* h) { return rc_grammar_matcher_rollback(h, 0); }},
      {"reset", [](auto* h) { return rc_grammar_matcher_reset(h); }},
      {"fork",
       [](auto* h) {
         rc_grammar_matcher* fork = nullptr;
         return rc_grammar_matcher_fork(h, &fork);
       }},
  };
  expect_all_refused(calls, grammar, model_.get());
  expect_all_refused(matcher_calls, matcher, model_.get());
  EXPECT_EQ(rc_grammar_retain(grammar), nullptr);
  EXPECT_EQ(rc_grammar_matcher_retain(matcher), nullptr);
  rc_grammar_release(grammar);
  rc_grammar_release(nullptr);
  rc_grammar_matcher_release(matcher);
  rc_grammar_matcher_release(nullptr);
}

TEST_F(Handles, InvalidFilesAndTokenizersAreRefused) {
  rc_model_info* info = nullptr;
  rc_tokenizer* tokenizer = nullptr;
  ASSERT_OK(rc_model_info_open(model_path().c_str(), &info));
  ASSERT_OK(rc_tokenizer_open(model_path().c_str(), &tokenizer));
  rc_model_info_release(info);
  rc_tokenizer_release(tokenizer);
  const Calls<rc_model_info> calls = {
      {"metadata",
       [](auto* h) {
         const char *key = nullptr, *type = nullptr;
         return rc_model_info_metadata(h, 0, &key, &type);
       }},
      {"value",
       [](auto* h) {
         char* json = nullptr;
         return rc_model_info_value(h, "key", 0, &json);
       }},
      {"tensor",
       [](auto* h) {
         rc_tensor_report report = RC_TENSOR_REPORT_INIT;
         return rc_model_info_tensor(h, 0, &report);
       }},
  };
  expect_all_refused(calls, info, model_.get());
  EXPECT_EQ(rc_model_info_metadata_count(info), 0u);
  EXPECT_EQ(rc_model_info_tensor_count(info), 0u);
  const Calls<rc_tokenizer> tokenizer_calls = {
      {"render",
       [](auto* h) {
         rc_chat_prompt* prompt = nullptr;
         return rc_chat_render(h, "[]", 2, nullptr, &prompt);
       }},
      {"tokenize",
       [](auto* h) {
         int32_t* tokens = nullptr;
         size_t count = 0;
         return rc_tokenize(h, "a", 1, 0, &tokens, &count);
       }},
      {"detokenize",
       [](auto* h) {
         const int32_t token = 1;
         char* text = nullptr;
         return rc_detokenize(h, &token, 1, 0, &text, nullptr);
       }},
      {"describe",
       [](auto* h) {
         rc_tokenizer_report report = RC_TOKENIZER_REPORT_INIT;
         return rc_tokenizer_describe(h, &report);
       }},
  };
  expect_all_refused(tokenizer_calls, tokenizer, model_.get());
  rc_chat_prompt* prompt = nullptr;
  rc_tokenizer* opened = nullptr;
  ASSERT_OK(rc_tokenizer_open(model_path().c_str(), &opened));
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_name = "chatml";
  const std::string messages = R"([{"role": "user", "content": "a"}])";
  ASSERT_OK(rc_chat_render(opened, messages.data(), messages.size(), &options,
                           &prompt));
  rc_tokenizer_release(opened);
  rc_chat_prompt_release(prompt);
  const Calls<rc_chat_prompt> prompt_calls = {
      {"describe",
       [](auto* h) {
         rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
         return rc_chat_prompt_describe(h, &report);
       }},
      {"content",
       [](auto* h) {
         rc_chat_content_report report = RC_CHAT_CONTENT_REPORT_INIT;
         return rc_chat_prompt_content(h, 0, &report);
       }},
  };
  expect_all_refused(prompt_calls, prompt, model_.get());
}

TEST_F(Handles, InvalidConversationsAreRefused) {
  rc_chat* chat = nullptr;
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_name = "chatml";
  ASSERT_OK(rc_chat_create(session_.get(), &options, &chat));
  EXPECT_EQ(rc_chat_retain(chat), chat);
  rc_chat_release(chat);
  rc_chat_release(chat);
  const Calls<rc_chat> calls = {
      {"add", [](auto* h) { return rc_chat_add(h, "[]", 2); }},
      {"undo", [](auto* h) { return rc_chat_undo(h, 0); }},
      {"messages",
       [](auto* h) {
         char* json = nullptr;
         return rc_chat_messages(h, &json, nullptr);
       }},
      {"fork",
       [](auto* h) {
         rc_chat* fork = nullptr;
         return rc_chat_fork(h, &fork);
       }},
      {"answer",
       [](auto* h) {
         rc_request* request = nullptr;
         return rc_chat_answer_async(h, nullptr, nullptr, nullptr, nullptr,
                                     &request);
       }},
  };
  expect_all_refused(calls, chat, model_.get());
  const Calls<rc_session> session_calls = {{"create", [](auto* h) {
                                              rc_chat* made = nullptr;
                                              return rc_chat_create(h, nullptr,
                                                                    &made);
                                            }}};
  rc_session* released = create_session(model_.get()).release();
  rc_session_release(released);
  expect_all_refused(session_calls, released, model_.get());
  EXPECT_EQ(rc_chat_retain(chat), nullptr);
  rc_chat_release(chat);
  rc_chat_release(nullptr);
}

TEST_F(Handles, NullOutputsAreRefused) {
  rc_session* s = session_.get();
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_backend_open("reference", nullptr, nullptr), "backend");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_model_load(backend_.get(), model_path().c_str(), nullptr, nullptr),
      "model");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_session_create(model_.get(), nullptr, nullptr), "session");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_session_position(s, nullptr),
               "position");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_session_fork(s, nullptr), "fork");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_generate(s, nullptr, nullptr, nullptr, nullptr), "text");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_model_describe(model_.get(), nullptr),
               "report");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_backend_usage(backend_.get(), nullptr),
               "report");
}

}  // namespace
}  // namespace rc::test
