// Functions called _async do not hold up their caller, however long the steps
// of the model are that are under way.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/embedding/embed_util.h"
#include "graph_util.h"
#include "runcible/convert.h"
#include "runcible/evaluate.h"
#include "runcible/fetch.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"

namespace rc::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Each function is called several times and may be interrupted in all calls but
// one.
constexpr int kTries = 6;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr microseconds kLongest(20000);
#else
constexpr microseconds kLongest(1000);
#endif
constexpr milliseconds kStep(400);

std::atomic<bool> paced = false;
std::atomic<int> paced_steps = 0;

// Ends of what was started, on the loop.
std::atomic<int> ends = 0;
template <class Handle, void (*kRelease)(Handle*)>
void released_end(void*, rc_status, const char*, Handle* made) {
  kRelease(made);
  ++ends;
}
void plain_end(void*, rc_status, const char*) { ++ends; }
template <class Thing>
void end_with(void*, rc_status, const char*, const Thing*) {
  ++ends;
}
void tokenized(void*, rc_status, const char*, const int32_t*, size_t) {
  ++ends;
}
void embedded(void*, rc_status, const char*, rc_embedding*) { ++ends; }
void graph_ran(void*, rc_status, const char*, rc_tensor* const* outputs,
               size_t count) {
  for (size_t i = 0; i < count; ++i) rc_tensor_release(outputs[i]);
  ++ends;
}
void generated(void*, const rc_event* event) {
  if (event->type == RC_EVENT_END) ++ends;
}

// The exported functions of that kind.
std::set<std::string> declared() {
  std::set<std::string> names;
  for (const auto& header :
       std::filesystem::directory_iterator(source_path("include/runcible"))) {
    std::ifstream file(header.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    static const std::regex kName(R"(RC_API rc_status\s+(rc_\w+_async)\()");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), kName);
         at != std::sregex_iterator(); ++at) {
      names.insert((*at)[1]);
    }
  }
  return names;
}

class AsyncCalls : public ::testing::Test {
 protected:
  using Call = std::function<rc_status(rc_loop*)>;

  AsyncCalls() {
    WrappedState& state = wrap_backend("paced", "cpu");
    state.on_run = [](const rc_plugin_run&, char*, const auto& run) {
      if (paced.load()) {
        ++paced_steps;
        std::this_thread::sleep_for(kStep);
      }
      return run();
    };
    backend_ = open_on("paced");
    model_ = load(backend_.get(), "builtin:fabulist");
    reference_ = open_on("reference");
    target_ = load(reference_.get(), "builtin:fabulist");
    encoder_ = load(backend_.get(), (folder() / "bert-mean").string());
    judge_ = load(backend_.get(), (folder() / "bert-cross").string());
    rc_loop* loop = nullptr;
    EXPECT_OK(rc_loop_create(&loop));
    loop_.reset(loop);
    std::ifstream file(model_path(), std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  // Creates a conversation in a separate session.
  rc_chat* new_chat(const std::string& messages) {
    sessions_.push_back(create_endless_session(model_.get()));
    rc_chat_options options = RC_CHAT_OPTIONS_INIT;
    options.tools = R"([{"type": "function", "function": {"name": "look",
        "parameters": {"type": "object", "properties": {"city":
        {"type": "string", "pattern": "^[a-z]{1,40}( [a-z]{1,40}){0,9}$"}}}}}])";
    rc_chat* chat = nullptr;
    EXPECT_OK(rc_chat_create(sessions_.back().get(), &options, &chat));
    chats_.emplace_back(chat);
    EXPECT_OK(rc_chat_add(chat, messages.data(), messages.size()));
    return chat;
  }

  std::string target(const std::string& name) {
    return (temporary_.path() / (name + std::to_string(++files_))).string();
  }

  std::map<std::string, Call> calls();

  Backend backend_, reference_;
  Model model_, target_, encoder_, judge_;
  Loop loop_;
  std::vector<Session> sessions_;
  std::vector<Conversation> chats_;
  std::vector<Request> requests_;
  std::string bytes_;
  TemporaryFolder temporary_;
  int files_ = 0;
};

std::map<std::string, AsyncCalls::Call> AsyncCalls::calls() {
  std::string long_text;
  while (long_text.size() < 200'000) long_text += "a fox and a crow; ";
  // Made before steps take long.
  auto waiting = std::make_shared<std::vector<rc_chat*>>();
  auto prompted = std::make_shared<std::vector<rc_session*>>();
  auto decoded = std::make_shared<std::vector<rc_session*>>();
  auto moved = std::make_shared<std::vector<rc_session*>>();
  for (int i = 0; i < kTries; ++i) {
    waiting->push_back(
        new_chat(R"({"role": "user", "content": ")" + long_text + "\"}"));
    sessions_.push_back(create_endless_session(model_.get()));
    prompted->push_back(sessions_.back().get());
    sessions_.push_back(create_endless_session(model_.get()));
    decoded->push_back(sessions_.back().get());
    EXPECT_OK(rc_session_append_text(decoded->back(), "a fox", 5, 0));
    sessions_.push_back(create_endless_session(model_.get()));
    moved->push_back(sessions_.back().get());
  }
  rc_tokenizer* made_tokenizer = nullptr;
  EXPECT_OK(rc_model_get_tokenizer(model_.get(), &made_tokenizer));
  const std::shared_ptr<rc_tokenizer> tokenizer(made_tokenizer,
                                                rc_tokenizer_release);
  const auto graph = std::make_shared<RecordedGraph>(backend_.get());
  const auto input =
      std::make_shared<Tensor>(make(backend_.get(), {2}, {1.0F, 2.0F}));
  {
    rc_tensor* x = graph->input({2});
    rc_tensor* y = nullptr;
    EXPECT_OK(rc_op_add(x, x, &y));
    std::vector<Tensor> outputs;
    outputs.emplace_back(y);
    graph->end(std::move(outputs));
  }
  const auto request = [this](auto&& start) {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.max_tokens = 2;
    rc_request* made = nullptr;
    const rc_status status = start(&options, &made);
    requests_.emplace_back(made);
    return status;
  };
  return {
      {"rc_discover_async",
       [](rc_loop* loop) {
         return rc_discover_async(
             nullptr, nullptr, loop,
             released_end<rc_device_list, rc_device_list_release>, nullptr);
       }},
      {"rc_backend_open_async",
       [](rc_loop* loop) {
         return rc_backend_open_async(
             "reference", nullptr, loop,
             released_end<rc_backend, rc_backend_release>, nullptr);
       }},
      {"rc_backend_switch_async",
       [this](rc_loop* loop) {
         rc_backend_switch_options options = RC_BACKEND_SWITCH_OPTIONS_INIT;
         options.wait_ms = 0;
         return rc_backend_switch_async(backend_.get(), "reference", &options,
                                        loop, plain_end, nullptr);
       }},
      {"rc_chat_answer_async",
       [=](rc_loop* loop) {
         rc_chat* const chat = waiting->back();
         waiting->pop_back();
         return request([&](rc_generate_options* options, rc_request** made) {
           options->tool_choice = "required";
           return rc_chat_answer_async(chat, options, loop, generated, nullptr,
                                       made);
         });
       }},
      {"rc_generate_async",
       [=](rc_loop* loop) {
         rc_session* const session = prompted->back();
         prompted->pop_back();
         return request([&](rc_generate_options* options, rc_request** made) {
           options->prompt = long_text.data();
           options->prompt_length = long_text.size();
           return rc_generate_async(session, options, loop, generated, nullptr,
                                    made);
         });
       }},
      {"rc_model_convert_async",
       [this](rc_loop* loop) {
         return rc_model_convert_async(
             model_path().c_str(), target("converted").c_str(), nullptr,
             nullptr, nullptr, loop, plain_end, nullptr);
       }},
      {"rc_model_quantize_async",
       [this](rc_loop* loop) {
         rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
         options.type = "Q8_0";
         return rc_model_quantize_async(model_path().c_str(),
                                        target("quantized").c_str(), &options,
                                        loop, plain_end, nullptr);
       }},
      {"rc_embed_async",
       [this](rc_loop* loop) {
         const char* text = "a fox";
         return rc_embed_async(encoder_.get(), &text, nullptr, 1, nullptr, loop,
                               embedded, nullptr, nullptr);
       }},
      {"rc_rerank_async",
       [this](rc_loop* loop) {
         const char* text = "a fox";
         return rc_rerank_async(judge_.get(), "crow", 4, &text, nullptr, 1,
                                nullptr, loop, embedded, nullptr, nullptr);
       }},
      {"rc_model_evaluate_async",
       [this](rc_loop* loop) {
         rc_evaluate_options options = RC_EVALUATE_OPTIONS_INIT;
         options.text = "a fox and a crow";
         options.text_length = 16;
         return rc_model_evaluate_async(model_.get(), &options, loop,
                                        end_with<rc_evaluate_report>, nullptr);
       }},
      {"rc_model_importance_async",
       [this](rc_loop* loop) {
         rc_importance_options options = RC_IMPORTANCE_OPTIONS_INIT;
         options.text = "a fox and a crow";
         options.text_length = 16;
         return rc_model_importance_async(
             model_.get(), target("importance").c_str(), &options, loop,
             end_with<rc_importance_report>, nullptr);
       }},
      {"rc_model_fetch_async",
       [this](rc_loop* loop) {
         const std::string to = target("fetched");
         rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
         options.to = to.c_str();
         return rc_model_fetch_async("https://127.0.0.1:9/model.gguf", &options,
                                     loop, end_with<char>, nullptr);
       }},
      {"rc_graph_run_async",
       [=](rc_loop* loop) {
         rc_tensor* const given = input->get();
         return rc_graph_run_async(graph->get(), &given, 1, nullptr, loop,
                                   graph_ran, nullptr);
       }},
      {"rc_model_load_async",
       [this](rc_loop* loop) {
         return rc_model_load_async(
             backend_.get(), "builtin:fable", nullptr, loop,
             released_end<rc_model, rc_model_release>, nullptr);
       }},
      {"rc_model_load_memory_async",
       [this](rc_loop* loop) {
         rc_model_memory memory = RC_MODEL_MEMORY_INIT;
         memory.data = bytes_.data();
         memory.size = bytes_.size();
         return rc_model_load_memory_async(
             backend_.get(), &memory, nullptr, loop,
             released_end<rc_model, rc_model_release>, nullptr);
       }},
      {"rc_session_decode_async",
       [=](rc_loop* loop) {
         rc_session* const session = decoded->back();
         decoded->pop_back();
         return rc_session_decode_async(session, 0, loop, plain_end, nullptr);
       }},
      {"rc_session_move_async",
       [=, this](rc_loop* loop) {
         rc_session* const session = moved->back();
         moved->pop_back();
         return rc_session_move_async(session, target_.get(), loop, plain_end,
                                      nullptr);
       }},
      {"rc_tokenize_async",
       [=](rc_loop* loop) {
         return rc_tokenize_async(tokenizer.get(), long_text.data(),
                                  long_text.size(), 0, loop, tokenized,
                                  nullptr);
       }},
      {"rc_tensor_to_async",
       [=, this](rc_loop* loop) {
         return rc_tensor_to_async(
             input->get(), backend_.get(), "paced:0", loop,
             released_end<rc_tensor, rc_tensor_release>, nullptr);
       }},
  };
}

TEST_F(AsyncCalls, ReturnAtOnceWhileStepsAreLong) {
  const std::map<std::string, Call> all = calls();
  std::set<std::string> names;
  for (const auto& [name, call] : all) names.insert(name);
  EXPECT_EQ(names, declared());

  const Session running = create_endless_session(model_.get());
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.ignore_eos = 1;
  options.prompt = "a";
  options.prompt_length = 1;
  rc_request* started = nullptr;
  ends = 0;
  ASSERT_OK(rc_generate_async(running.get(), &options, loop_.get(), generated,
                              nullptr, &started));
  const Request endless(started);
  int expected = 1;
  paced_steps = 0;
  paced = true;
  while (paced_steps.load() == 0) {
    ASSERT_EQ(ends.load(), 0);
    std::this_thread::sleep_for(milliseconds(1));
  }
  for (const auto& [name, call] : all) {
    microseconds shortest = microseconds::max();
    for (int i = 0; i < kTries; ++i) {
      const auto before = steady_clock::now();
      const rc_status status = call(loop_.get());
      const auto after = steady_clock::now();
      EXPECT_OK(status) << name;
      if (status == RC_OK) ++expected;
      shortest = std::min(
          shortest, std::chrono::duration_cast<microseconds>(after - before));
    }
    EXPECT_LT(shortest.count(), kLongest.count()) << name;
    RecordProperty(name + "_us", static_cast<int>(shortest.count()));
  }
  paced = false;
  EXPECT_OK(rc_request_cancel(started));
  while (ends.load() < expected) {
    ASSERT_OK(rc_loop_wait(loop_.get(), 600'000));
    ASSERT_OK(rc_loop_dispatch(loop_.get(), 0, nullptr));
  }
}

}  // namespace
}  // namespace rc::test
