// A whole load-and-generate run in which the n-th allocation fails, for every
// n until a run gets through: each run ends with a clean error or succeeds,
// and gives everything back.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "failing_new.h"
#include "labels.h"
#include "runcible/runcible.h"
#include "test_data.h"

namespace rc::test {
namespace {

struct RequestEnd {
  int ends = 0;
  rc_status status = RC_OK;
};

void receive(void* user, const rc_event* event) {
  auto* request_end = static_cast<RequestEnd*>(user);
  if (event->type != RC_EVENT_END) return;
  ++request_end->ends;
  request_end->status = event->report->status;
}

// Loads, tokenizes, generates blocking and on a loop, saves and restores.
// Returns the first failure; everything is given back either way.
rc_status run(const char* spec, const std::string& path) {
  rc_backend* backend = nullptr;
  rc_model* model = nullptr;
  rc_tokenizer* tokenizer = nullptr;
  rc_session* session = nullptr;
  rc_session* fork = nullptr;
  rc_session* restored = nullptr;
  rc_loop* loop = nullptr;
  char* text = nullptr;
  void* saved = nullptr;
  int32_t* tokens = nullptr;
  size_t count = 0, size = 0;
  RequestEnd request_end;
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  model_options.context_length = 64;
  rc_backend_options backend_options = RC_BACKEND_OPTIONS_INIT;
  backend_options.threads = 1;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = 4;
  options.seed = 1;
  options.ignore_eos = 1;
  options.logprobs = 2;
  const char* const stop[] = {"no such text"};
  options.stop = stop;
  options.stop_count = 1;

  rc_status status = rc_backend_open(spec, &backend_options, &backend);
  if (status == RC_OK) {
    status = rc_model_load(backend, path.c_str(), &model_options, &model);
  }
  if (status == RC_OK) status = rc_model_get_tokenizer(model, &tokenizer);
  if (status == RC_OK) {
    status = rc_tokenize(tokenizer, "hello", 5, 0, &tokens, &count);
  }
  if (status == RC_OK) status = rc_session_create(model, nullptr, &session);
  if (status == RC_OK) {
    status = rc_generate(session, &options, &text, nullptr, nullptr);
  }
  if (status == RC_OK) status = rc_session_fork(session, &fork);
  if (status == RC_OK) status = rc_loop_create(&loop);
  if (status == RC_OK) {
    status =
        rc_generate_async(fork, &options, loop, receive, &request_end, nullptr);
    // Accepted requests end exactly once, whatever fails.
    while (status == RC_OK && request_end.ends == 0) {
      static_cast<void>(rc_loop_wait(loop, 60000));
      static_cast<void>(rc_loop_dispatch(loop, 0, nullptr));
    }
    if (status == RC_OK) status = request_end.status;
  }
  if (status == RC_OK) status = rc_session_save_memory(fork, &saved, &size);
  if (status == RC_OK) {
    status = rc_session_restore_memory(model, saved, size, nullptr, &restored);
  }
  rc_free(text);
  rc_free(saved);
  rc_free(tokens);
  rc_loop_release(loop);
  rc_session_release(restored);
  rc_session_release(fork);
  rc_session_release(session);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return status;
}

// The status of an answer, whose events are pulled.
rc_status answer(rc_chat* chat) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.max_tokens = 4;
  options.seed = 1;
  options.ignore_eos = 1;
  rc_request* request = nullptr;
  rc_status status =
      rc_chat_answer_async(chat, &options, nullptr, nullptr, nullptr, &request);
  rc_event event = RC_EVENT_INIT;
  while (status == RC_OK && event.type != RC_EVENT_END) {
    status = rc_request_next(request, -1, &event);
  }
  if (status == RC_OK) status = event.report->status;
  rc_request_release(request);
  return status;
}

// Writes a conversation with tools down, and lets a model answer it twice.
rc_status run_chat(const char* spec, const std::string& path) {
  static constexpr char kMessages[] =
      R"([{"role": "user", "content": "hello"},)"
      R"( {"role": "assistant", "tool_calls": [{"id": "1", "function":)"
      R"( {"name": "f", "arguments": "{\"n\": [1, 2]}"}}]},)"
      R"( {"role": "tool", "tool_call_id": "1", "content": "4"}])";
  rc_backend* backend = nullptr;
  rc_model* model = nullptr;
  rc_tokenizer* tokenizer = nullptr;
  rc_session* session = nullptr;
  rc_chat_prompt* prompt = nullptr;
  rc_chat* chat = nullptr;
  rc_chat* fork = nullptr;
  char* messages = nullptr;
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  model_options.context_length = 512;
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.tools = R"([{"type": "function", "function": {"name": "f"}}])";
  options.template_text =
      "{{ tools | tojson }}{% for m in messages %}{{ m.role }}{{ m.content }}"
      "{{ m.name }}{% for call in m.tool_calls %}{{ call | tojson }}"
      "{% endfor %}{% endfor %}";
  rc_status status = rc_backend_open(spec, nullptr, &backend);
  if (status == RC_OK) {
    status = rc_model_load(backend, path.c_str(), &model_options, &model);
  }
  if (status == RC_OK) status = rc_model_get_tokenizer(model, &tokenizer);
  if (status == RC_OK) {
    status = rc_chat_render(tokenizer, kMessages, sizeof(kMessages) - 1,
                            &options, &prompt);
  }
  if (status == RC_OK) status = rc_session_create(model, nullptr, &session);
  if (status == RC_OK) status = rc_chat_create(session, &options, &chat);
  if (status == RC_OK) {
    status = rc_chat_add(chat, kMessages, sizeof(kMessages) - 1);
  }
  if (status == RC_OK) status = answer(chat);
  if (status == RC_OK) status = rc_chat_messages(chat, &messages, nullptr);
  if (status == RC_OK) status = rc_chat_undo(chat, 1);
  if (status == RC_OK) status = rc_chat_fork(chat, &fork);
  if (status == RC_OK) status = answer(fork);
  rc_free(messages);
  rc_chat_release(fork);
  rc_chat_release(chat);
  rc_chat_prompt_release(prompt);
  rc_session_release(session);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return status;
}

// Makes tensors, views and copies of them, and computes with them: small and
// large products, a convolution, types with blocks, borrowed memory.
rc_status run_tensors(const char* spec, const std::string&) {
  constexpr int64_t kSide = 160;
  const int64_t square[] = {kSide, kSide};
  const int64_t image[] = {1, 1, kSide, kSide};
  const int64_t window[] = {1, 1, 3, 3};
  const int32_t numbers[] = {3, 1};
  const int64_t count = 2;
  static float numbers_read[kSide * kSide];
  rc_backend* backend = nullptr;
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  static float lent[kSide * kSide];
  int ended = 0;
  constexpr int kTensors = 15;
  rc_tensor* t[kTensors] = {};
  int made = 0;
  rc_status status = rc_backend_open(spec, &options, &backend);
  const auto make = [&](int i) {
    switch (i) {
      case 0:
        return rc_tensor_random(backend, square, 2, nullptr, &t[0]);
      case 1:
        return rc_tensor_ones(backend, RC_DTYPE_F32, window, 4, &t[1]);
      case 2:
        return rc_tensor_transpose(t[0], 0, 1, &t[2]);
      case 3:
        return rc_op_matmul(t[0], t[2], &t[3]);
      case 4:
        return rc_op_quantize(t[0], RC_DTYPE_Q8_0, &t[4]);
      case 5:
        return rc_op_matmul_quantized(t[0], t[4], &t[5]);
      case 6:
        return rc_tensor_reshape(t[0], image, 4, &t[6]);
      case 7:
        return rc_op_conv2d(t[6], t[1], nullptr, nullptr, &t[7]);
      case 8:
        return rc_op_softmax(t[0], 0, &t[8]);
      case 9:
        return rc_tensor_from_data(backend, RC_DTYPE_I32, &count, 1, numbers,
                                   sizeof(numbers), &t[9]);
      case 10:
        return rc_op_gather_rows(t[0], t[9], &t[10]);
      case 11:
        return rc_tensor_borrow(
            backend, RC_DTYPE_F32, square, 2, lent, sizeof(lent),
            [](void* user) { ++*static_cast<int*>(user); }, &ended, &t[11]);
      case 12:
        return rc_op_into(t[0], t[11], &t[12]);
      case 13:
        return rc_op_abs(t[12], &t[13]);
      default:
        return rc_op_sort(t[11], 0, 0, &t[14]);
    }
  };
  while (status == RC_OK && made < kTensors) {
    status = make(made);
    if (status == RC_OK) ++made;
  }
  if (status == RC_OK) {
    status = rc_tensor_read(t[2], numbers_read, sizeof(numbers_read));
  }
  for (int i = 0; i < made; ++i) rc_tensor_release(t[i]);
  rc_backend_release(backend);
  EXPECT_EQ(ended, made > 11 ? 1 : 0);
  return status;
}

// Compiles grammars, follows a text, and generates under one.
rc_status run_grammars(const char* spec, const std::string& path) {
  constexpr char kSchema[] =
      R"({"type": "object", "required": ["a"], "properties": {
          "a": {"enum": [1, "b"]}}, "additionalProperties": false})";
  rc_backend* backend = nullptr;
  rc_model* model = nullptr;
  rc_tokenizer* tokenizer = nullptr;
  rc_session* session = nullptr;
  rc_grammar* grammar = nullptr;
  rc_grammar_matcher* matcher = nullptr;
  rc_grammar_matcher* fork = nullptr;
  char* text = nullptr;
  int32_t* forced = nullptr;
  size_t count = 0;
  int32_t accepted = 0;
  uint32_t mask[16];
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  model_options.context_length = 64;
  rc_backend_options backend_options = RC_BACKEND_OPTIONS_INIT;
  backend_options.threads = 1;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.max_tokens = 12;
  options.seed = 1;

  rc_status status = rc_backend_open(spec, &backend_options, &backend);
  if (status == RC_OK) {
    status = rc_model_load(backend, path.c_str(), &model_options, &model);
  }
  if (status == RC_OK) status = rc_model_get_tokenizer(model, &tokenizer);
  if (status == RC_OK) status = rc_session_create(model, nullptr, &session);
  if (status == RC_OK) {
    status = rc_grammar_create(tokenizer, RC_GRAMMAR_JSON_SCHEMA, kSchema,
                               sizeof kSchema - 1, nullptr, &grammar);
  }
  if (status == RC_OK) status = rc_grammar_matcher_create(grammar, &matcher);
  if (status == RC_OK) {
    status = rc_grammar_matcher_accept_text(matcher, "{", 1, &accepted);
  }
  if (status == RC_OK) status = rc_grammar_matcher_fork(matcher, &fork);
  if (status == RC_OK) status = rc_grammar_matcher_mask(fork, mask, 16);
  if (status == RC_OK) {
    status = rc_grammar_matcher_forced(fork, &forced, &count);
  }
  if (status == RC_OK) {
    options.grammar = grammar;
    status = rc_generate(session, &options, &text, nullptr, nullptr);
  }
  rc_free(text);
  rc_free(forced);
  rc_grammar_matcher_release(fork);
  rc_grammar_matcher_release(matcher);
  rc_grammar_release(grammar);
  rc_session_release(session);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return status;
}

// Whether everything but `live` allocations is given back; the engine thread
// may be the last to let go, a moment after the handles are released.
bool settles_at(int64_t live) {
  for (int i = 0; i < 60000 && live_allocations() > live; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return live_allocations() <= live;
}

struct Life {
  const char* name;
  const char* spec;
  rc_status (*run)(const char* spec, const std::string& path);
  // Every how many allocations one fails, in a build without sanitizers.
  int64_t step = 1;
};

// For GoogleTest, which would print the bytes.
void PrintTo(const Life& life, std::ostream* out) { *out << life.name; }

class FailedAllocations : public testing::TestWithParam<Life> {};

TEST_P(FailedAllocations, AreReportedAsErrors) {
  const auto run_failing = [](int64_t n, const std::string& path) {
    fail_allocation(n);
    const rc_status status = GetParam().run(GetParam().spec, path);
    const bool failed = allocation_failed();
    fail_allocation(-1);
    return std::pair(status, failed);
  };
  const std::string path =
      source_path("tests/golden/architectures/llama2.gguf").string();
  // The first call creates the objects that exist once per process.
  ASSERT_EQ(GetParam().run(GetParam().spec, path), RC_OK) << rc_error_message();
  ASSERT_EQ(GetParam().run(GetParam().spec, path), RC_OK) << rc_error_message();
  int64_t live = live_allocations();
  int failures = 0;
  const int64_t thinning =
      is_full_set() ? kSlowness : std::max<int64_t>(kSlowness, 4);
  const int64_t step = GetParam().step * thinning;
  for (int64_t n = 0;; n += step) {
    auto [status, failed] = run_failing(n, path);
    // Objects that an error creates once per process are no leak; they must not
    // appear a second time.
    if (!settles_at(live)) {
      live = live_allocations();
      std::tie(status, failed) = run_failing(n, path);
    }
    ASSERT_TRUE(settles_at(live))
        << "allocation " << n << " leaks " << live_allocations() - live;
    if (status != RC_OK) {
      ++failures;
      ASSERT_EQ(status, RC_E_OUT_OF_MEMORY)
          << "allocation " << n << ": " << rc_error_message();
    }
    if (!failed) break;
  }
  EXPECT_GT(failures, 40 / step);
  EXPECT_EQ(GetParam().run(GetParam().spec, path), RC_OK) << rc_error_message();
}

INSTANTIATE_TEST_SUITE_P(
    Lives, FailedAllocations,
    testing::Values(Life{"reference", "reference", run},
                    Life{"cpu", "cpu", run},
                    Life{"cpu_grammars", "cpu", run_grammars, 2},
                    Life{"chat", "reference", run_chat, 9},
                    Life{"reference_tensors", "reference", run_tensors},
                    Life{"cpu_tensors", "cpu", run_tensors}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace rc::test
