// Calls from a thread with as small a stack as base.h promises to do with. Each
// is made by a child of a process that has never used the library, for the
// first call of all needs most.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "labels.h"
#include "runcible/runcible.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

// See base.h.
constexpr size_t kStack = size_t{64} << 10;
constexpr size_t kStackOfTensors = size_t{256} << 10;

#define RC_DO(call)                                                \
  do {                                                             \
    const rc_status status = (call);                               \
    if (status != RC_OK) {                                         \
      std::fprintf(stderr, "%s: %s\n", #call, rc_error_message()); \
      return status;                                               \
    }                                                              \
  } while (false)

rc_status discover(const char*) {
  rc_device_list* list = nullptr;
  RC_DO(rc_discover(&list));
  rc_device_list_release(list);
  return RC_OK;
}

rc_status open(const char* spec) {
  rc_backend* backend = nullptr;
  const rc_status status = rc_backend_open(spec, nullptr, &backend);
  if (status != RC_OK) return status;
  const char* json = nullptr;
  RC_DO(rc_backend_explain(backend, &json));
  rc_device_report report = RC_DEVICE_REPORT_INIT;
  RC_DO(rc_backend_device(backend, &report));
  rc_backend_release(backend);
  return RC_OK;
}

// Refusals have the longest messages.
rc_status refuse(const char*) {
  rc_backend* backend = nullptr;
  if (rc_backend_open("cpu,no such thing", nullptr, &backend) == RC_OK ||
      rc_backend_open("nothing,nowhere", nullptr, &backend) == RC_OK ||
      rc_model_verify("/nonexistent/model.gguf") == RC_OK) {
    return RC_E_INTERNAL;
  }
  return RC_OK;
}

rc_status compute(const char* spec) {
  rc_backend* backend = nullptr;
  const rc_status status = rc_backend_open(spec, nullptr, &backend);
  if (status != RC_OK) return status;
  const int64_t square[] = {64, 64};
  const int64_t image[] = {1, 1, 64, 64};
  const int64_t window[] = {1, 1, 3, 3};
  static float numbers[64 * 64];
  rc_tensor* t[9] = {};
  RC_DO(rc_tensor_random(backend, square, 2, nullptr, &t[0]));
  RC_DO(rc_tensor_ones(backend, RC_DTYPE_F32, window, 4, &t[1]));
  RC_DO(rc_op_matmul(t[0], t[0], &t[2]));
  RC_DO(rc_op_quantize(t[0], RC_DTYPE_Q8_0, &t[3]));
  RC_DO(rc_op_matmul_quantized(t[0], t[3], &t[4]));
  // The kernels of the cpu backend keep much on the stack for some types. To
  // others all types are one, and are compiled for long.
  const bool is_compiled =
      std::string_view(spec) == "opencl" || std::string_view(spec) == "vulkan";
  for (const rc_dtype type : {RC_DTYPE_Q4_0, RC_DTYPE_Q4_1, RC_DTYPE_Q5_0,
                              RC_DTYPE_Q5_1, RC_DTYPE_Q8_0}) {
    if (is_compiled && !is_full_set()) continue;
    rc_tensor *weight = nullptr, *product = nullptr;
    RC_DO(rc_op_quantize(t[0], type, &weight));
    RC_DO(rc_op_matmul_quantized(t[0], weight, &product));
    rc_tensor_release(weight);
    rc_tensor_release(product);
  }
  RC_DO(rc_tensor_reshape(t[0], image, 4, &t[5]));
  RC_DO(rc_op_conv2d(t[5], t[1], nullptr, nullptr, &t[6]));
  RC_DO(rc_op_softmax(t[0], 0, &t[7]));
  RC_DO(rc_tensor_transpose(t[0], 0, 1, &t[8]));
  for (const int i : {2, 4, 7, 8}) {
    RC_DO(rc_tensor_read(t[i], numbers, sizeof numbers));
  }
  for (rc_tensor* tensor : t) rc_tensor_release(tensor);
  rc_backend_release(backend);
  return RC_OK;
}

void receive(void* user, const rc_event* event) {
  if (event->type == RC_EVENT_END) ++*static_cast<int*>(user);
}

rc_status generate(const char* spec) {
  const std::string path = source_path("examples/model/fable.gguf").string();
  rc_backend* backend = nullptr;
  const rc_status status = rc_backend_open(spec, nullptr, &backend);
  if (status != RC_OK) return status;
  rc_model_info* info = nullptr;
  RC_DO(rc_model_info_open(path.c_str(), &info));
  rc_model_info_release(info);
  RC_DO(rc_model_verify(path.c_str()));
  rc_plan* plan = nullptr;
  RC_DO(rc_model_plan(path.c_str(), nullptr, backend, &plan));
  rc_plan_release(plan);
  rc_model* model = nullptr;
  RC_DO(rc_model_load(backend, path.c_str(), nullptr, &model));
  rc_tokenizer* tokenizer = nullptr;
  RC_DO(rc_model_get_tokenizer(model, &tokenizer));
  int32_t* tokens = nullptr;
  size_t count = 0;
  RC_DO(rc_tokenize(tokenizer, "Once upon a time", 16, 0, &tokens, &count));
  rc_session *session = nullptr, *fork = nullptr, *restored = nullptr;
  RC_DO(rc_session_create(model, nullptr, &session));
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "Once upon a time";
  options.prompt_length = 16;
  options.max_tokens = 8;
  char* text = nullptr;
  RC_DO(rc_generate(session, &options, &text, nullptr, nullptr));
  RC_DO(rc_session_fork(session, &fork));
  rc_loop* loop = nullptr;
  RC_DO(rc_loop_create(&loop));
  int ends = 0;
  RC_DO(rc_generate_async(fork, &options, loop, receive, &ends, nullptr));
  while (ends == 0) {
    RC_DO(rc_loop_wait(loop, -1));
    RC_DO(rc_loop_dispatch(loop, 0, nullptr));
  }
  void* saved = nullptr;
  size_t size = 0;
  RC_DO(rc_session_save_memory(fork, &saved, &size));
  RC_DO(rc_session_restore_memory(model, saved, size, nullptr, &restored));
  RC_DO(rc_session_append(restored, tokens, count));
  RC_DO(rc_session_decode(restored, 0));
  rc_free(text);
  rc_free(saved);
  rc_free(tokens);
  rc_loop_release(loop);
  for (rc_session* each : {restored, fork, session}) rc_session_release(each);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return RC_OK;
}

std::string nested(const char* open, const char* inner, const char* close,
                   size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += open;
  text += inner;
  for (size_t i = 0; i < count; ++i) text += close;
  return text;
}

// Hostile texts are read or refused: whatever they say must not matter.
bool is_answer(rc_status status) {
  return status == RC_OK || status == RC_E_INVALID_ARGUMENT ||
         status == RC_E_UNSUPPORTED || status == RC_E_FORMAT;
}

rc_status read_grammars(const rc_tokenizer* tokenizer) {
  std::string rules = "root ::= r0\nr17 ::= \"a\"\n";
  for (int i = 0; i < 17; ++i) {
    const std::string next = "r" + std::to_string(i + 1);
    rules += "r" + std::to_string(i) + " ::= " + next + " " + next + "\n";
  }
  const std::string run(60000, 'a');
  const struct {
    rc_grammar_kind kind;
    std::string text;
  } kHostile[] = {
      {RC_GRAMMAR_GBNF, rules},
      {RC_GRAMMAR_GBNF, "root ::= " + nested("(\"a\" ", "root", ")", 99)},
      {RC_GRAMMAR_REGEX, "(?:" + run + ")b"},
      {RC_GRAMMAR_REGEX, nested("(?:a", "b", ")*", 99)},
      {RC_GRAMMAR_LARK, "start: /(?:" + run + ")b/"},
      {RC_GRAMMAR_LARK, "start: " + nested("[\"a\" ", "start", "]", 98)},
      {RC_GRAMMAR_JSON_SCHEMA, "{\"pattern\": \"(?:" + run + ")b\"}"},
      {RC_GRAMMAR_JSON_SCHEMA,
       nested("{\"required\": [\"a\"], \"properties\": {\"a\": ", "{}", "}}",
              99)},
      {RC_GRAMMAR_JSON_SCHEMA,
       "{\"const\": " + nested("[", "1", "]", 198) + "}"},
      {RC_GRAMMAR_JSON_SCHEMA, nested("{\"not\": ", "{}", "}", 199)}};
  for (const auto& [kind, text] : kHostile) {
    rc_grammar* grammar = nullptr;
    const rc_status status = rc_grammar_create(tokenizer, kind, text.data(),
                                               text.size(), nullptr, &grammar);
    if (!is_answer(status)) return status;
    if (status != RC_OK) continue;
    rc_grammar_matcher* matcher = nullptr;
    RC_DO(rc_grammar_matcher_create(grammar, &matcher));
    for (const char* piece : {"a", "{\"a\":", "[[[[[[", "a"}) {
      static uint32_t mask[1 << 14];
      int32_t accepted = 0;
      int32_t* tokens = nullptr;
      size_t count = 0;
      RC_DO(rc_grammar_matcher_mask(matcher, mask, sizeof mask / 4));
      RC_DO(rc_grammar_matcher_accept_text(matcher, piece, std::strlen(piece),
                                           &accepted));
      RC_DO(rc_grammar_matcher_forced(matcher, &tokens, &count));
      rc_free(tokens);
    }
    rc_grammar_matcher_release(matcher);
    rc_grammar_release(grammar);
  }
  return RC_OK;
}

rc_status answer(rc_session* session, const std::string& tools,
                 const std::string& source, const std::string& format) {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.tools = tools.empty() ? nullptr : tools.c_str();
  options.template_text = source.c_str();
  rc_chat* chat = nullptr;
  rc_status status = rc_chat_create(session, &options, &chat);
  if (!is_answer(status)) return status;
  if (status != RC_OK) return RC_OK;
  const std::string message = R"([{"role": "user", "content": "a", "more": )" +
                              nested("[", "1", "]", 190) + "}]";
  RC_DO(rc_chat_add(chat, message.data(), message.size()));
  char* messages = nullptr;
  RC_DO(rc_chat_messages(chat, &messages, nullptr));
  rc_free(messages);
  rc_generate_options given = RC_GENERATE_OPTIONS_INIT;
  given.max_tokens = 2;
  if (!format.empty()) given.response_format = format.c_str();
  rc_request* request = nullptr;
  status =
      rc_chat_answer_async(chat, &given, nullptr, nullptr, nullptr, &request);
  if (!is_answer(status)) return status;
  for (bool ended = status != RC_OK; !ended;) {
    rc_event event = RC_EVENT_INIT;
    RC_DO(rc_request_next(request, -1, &event));
    ended = event.type == RC_EVENT_END;
  }
  rc_request_release(request);
  rc_chat_release(chat);
  return RC_OK;
}

// Grammars, templates, schemas of tools and of answers.
rc_status read_texts(const char* spec) {
  rc_backend* backend = nullptr;
  const rc_status status = rc_backend_open(spec, nullptr, &backend);
  if (status != RC_OK) return status;
  const std::string path = source_path("examples/model/fable.gguf").string();
  rc_model* model = nullptr;
  RC_DO(rc_model_load(backend, path.c_str(), nullptr, &model));
  rc_tokenizer* tokenizer = nullptr;
  RC_DO(rc_model_get_tokenizer(model, &tokenizer));
  RC_DO(read_grammars(tokenizer));
  rc_session* session = nullptr;
  RC_DO(rc_session_create(model, nullptr, &session));
  const std::string plain =
      "{{ tools }}{% for m in messages %}{{ m }}{% endfor %}"
      "{# [TOOL_CALLS][ARGS] #}";
  const std::string deep_schemas[] = {
      nested("{\"required\": [\"a\"], \"properties\": {\"a\": ", "{}", "}}",
             90),
      nested("{\"items\": ", "{}", "}", 180),
      "{\"pattern\": \"(?:" + std::string(60000, 'a') + ")b\"}"};
  for (const std::string& schema : deep_schemas) {
    const std::string tools =
        R"([{"type": "function", "function": {"name": "f", "strict": true,)"
        R"("parameters": {"type": "object", "properties": {"a": )" +
        schema + "}}}}]";
    const std::string format =
        R"({"type": "json_schema", "json_schema": {"schema": )" + schema + "}}";
    RC_DO(answer(session, tools, plain, ""));
    RC_DO(answer(session, "", plain, format));
  }
  for (const size_t depth : {size_t{99}, size_t{390}, size_t{50000}}) {
    for (const std::string& source :
         {"{{ " + nested("[", "1", "]", depth) + " }}",
          nested("{% if 1 %}", "1", "{% endif %}", depth),
          "{{ 1" + nested(" + 1", "", "", depth) + " }}",
          "{{ a" + nested("|list", "", "", depth) + " }}"}) {
      RC_DO(answer(session, "", source, ""));
    }
  }
  rc_session_release(session);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return RC_OK;
}

struct Calls {
  const char* name;
  rc_status (*function)(const char* spec);
  const char* spec;
  size_t stack = kStack;
};

// For GoogleTest, which would print the bytes.
void PrintTo(const Calls& calls, std::ostream* out) { *out << calls.name; }

class SmallStack : public testing::TestWithParam<Calls> {
 protected:
  static void* run(void* status) {
    *static_cast<rc_status*>(status) = GetParam().function(GetParam().spec);
    return nullptr;
  }

  // Returns the result of a child that makes the calls on a thread with such a
  // stack.
  static int in_child(size_t stack) {
    const pid_t child = fork();
    if (child == 0) {
      rc_status status = RC_E_INTERNAL;
      pthread_attr_t attributes;
      pthread_t thread;
      if (pthread_attr_init(&attributes) != 0 ||
          pthread_attr_setstacksize(&attributes, stack) != 0 ||
          pthread_create(&thread, &attributes, run, &status) != 0) {
        _exit(1);
      }
      pthread_join(thread, nullptr);
      _exit(-status);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? -WEXITSTATUS(status) : WTERMSIG(status);
  }

  const TemporaryFolder folder_;
  const TemporaryVariable cache_{"XDG_CACHE_HOME", folder_.path().string()};
  const TemporaryVariable modules_{"RUNCIBLE_PLUGIN_PATH", RC_MODULES};
};

TEST_P(SmallStack, IsEnoughForEveryCall) {
  RC_TEST_LABELS(kNumbers);
  const int status = in_child(GetParam().stack);
  if (status == RC_E_BACKEND_UNAVAILABLE) {
    GTEST_SKIP() << "there is no " << GetParam().spec << " here";
  }
  EXPECT_EQ(status, RC_OK) << "negative: a status; positive: a signal";
}

INSTANTIATE_TEST_SUITE_P(
    Calls, SmallStack,
    testing::Values(
        Calls{"discover", discover, ""}, Calls{"refuse", refuse, ""},
        Calls{"open_auto", open, "auto"}, Calls{"open_opencl", open, "opencl"},
        Calls{"open_vulkan", open, "vulkan"},
        Calls{"compute_cpu", compute, "cpu", kStackOfTensors},
        Calls{"compute_reference", compute, "reference", kStackOfTensors},
        Calls{"compute_opencl", compute, "opencl", kStackOfTensors},
        Calls{"compute_vulkan", compute, "vulkan", kStackOfTensors},
        Calls{"generate_cpu", generate, "cpu"},
        Calls{"generate_reference", generate, "reference"},
        Calls{"generate_opencl", generate, "opencl"},
        Calls{"generate_vulkan", generate, "vulkan"},
        Calls{"read_texts", read_texts, "cpu"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace rc::test
