// Handles that change their device: models move, sessions go on.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "api_util.h"
#include "switch_util.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

std::vector<int32_t> tokens_of(rc_session* session) {
  int32_t* tokens = nullptr;
  size_t count = 0;
  EXPECT_OK(rc_session_tokens(session, &tokens, &count));
  const std::vector<int32_t> copy(tokens, tokens + count);
  rc_free(tokens);
  return copy;
}

class SwitchedTo : public testing::TestWithParam<const char*> {};

// The text that follows is what it is when the same session is moved by hand,
// to the device and back.
TEST_P(SwitchedTo, GenerationContinuesWithTheSameText) {
  const std::string target = GetParam();
  const Backend backend = open_backend("cpu");
  rc_backend* opened = nullptr;
  if (rc_backend_open(target.c_str(), nullptr, &opened) != RC_OK) {
    GTEST_SKIP() << rc_error_message();
  }
  const Backend by_hand(opened);
  const Model model = load_fable(backend);
  const Model there = load_fable(by_hand);
  const Session session = create_session(model.get());
  greedy(session.get(), "The fox", 10);
  rc_session* moved = nullptr;
  ASSERT_OK(rc_session_migrate(session.get(), there.get(), &moved));
  const Session expected(moved);
  const std::vector<int32_t> before = tokens_of(session.get());

  ASSERT_OK(switch_to(backend, target.c_str()));
  EXPECT_EQ(device_of(backend), target);
  EXPECT_EQ(device_of(model), target + ":0");
  EXPECT_EQ(tokens_of(session.get()), before);
  const std::string text = greedy(session.get(), "", 10);
  EXPECT_EQ(text, greedy(expected.get(), "", 10));

  // New sessions are on the new device, too.
  const Session fresh = create_session(model.get());
  const Session fresh_there = create_session(there.get());
  EXPECT_EQ(greedy(fresh.get(), "Once", 6),
            greedy(fresh_there.get(), "Once", 6));
  const Tensor x = make(backend.get(), {1}, {1});
  const char* id = nullptr;
  ASSERT_OK(rc_tensor_device(x.get(), &id));
  EXPECT_EQ(id, target + ":0");
  const char* json = nullptr;
  ASSERT_OK(rc_backend_explain(backend.get(), &json));
  EXPECT_NE(std::string(json).find("\"spec\":\"" + target + "\""),
            std::string::npos)
      << json;

  const Session stays = create_session(model.get());
  ASSERT_OK(switch_to(backend, "cpu"));
  EXPECT_EQ(device_of(model), "cpu:0");
  EXPECT_EQ(device_of(backend), "cpu");
  EXPECT_FALSE(greedy(session.get(), "", 4).empty());
  EXPECT_FALSE(greedy(stays.get(), "The", 4).empty());
  // With the tensor, which has stayed where it was.
  EXPECT_EQ(memory_of(backend), bytes_of(model) + sizeof(float));
}

INSTANTIATE_TEST_SUITE_P(BackendSwitch, SwitchedTo,
                         testing::Values("reference", "blas", "opencl",
                                         "vulkan"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

// Sessions that were forked, one of the whole context and a shorter one; the
// model's handle is gone.
TEST(BackendSwitch, MovesSessionsOfEveryKind) {
  const Backend backend = open_backend("cpu");
  Model model = load_fable(backend);
  rc_session_options options = RC_SESSION_OPTIONS_INIT;
  options.context_length = 40;
  options.when_full = RC_FULL_SHIFT;
  rc_session* made = nullptr;
  ASSERT_OK(rc_session_create(model.get(), &options, &made));
  const Session shorter(made);
  const Session empty = create_session(model.get());
  const Session first = create_session(model.get());
  greedy(first.get(), "The owl", 4);
  ASSERT_OK(rc_session_fork(first.get(), &made));
  const Session fork(made);
  greedy(shorter.get(), "The owl", 3);
  model.reset();
  ASSERT_OK(switch_to(backend, "reference"));
  EXPECT_EQ(greedy(first.get(), "", 5), greedy(fork.get(), "", 5));
  // It shifts as it did.
  EXPECT_FALSE(greedy(shorter.get(), "", 60).empty());
  int64_t position = 0;
  ASSERT_OK(rc_session_position(shorter.get(), &position));
  EXPECT_LE(position, 40);
  ASSERT_OK(rc_session_position(empty.get(), &position));
  EXPECT_EQ(position, 0);
  // There are no logits, as nothing was decoded.
  const float* logits = nullptr;
  size_t rows = 0, vocabulary = 0;
  EXPECT_FAILS(RC_E_NOT_FOUND,
               rc_session_logits(first.get(), &logits, &rows, &vocabulary));
}

TEST(BackendSwitch, ConversationsContinue) {
  const Backend backend = open_backend("cpu");
  const Model model = load_fable(backend);
  const Session session = create_session(model.get());
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_text =
      "{% for m in messages %}{{ m.content }}\n{% endfor %}";
  rc_chat* made = nullptr;
  ASSERT_OK(rc_chat_create(session.get(), &options, &made));
  const Conversation chat(made);
  const std::string message = R"({"role": "user", "content": "The fox"})";
  const auto answer = [&] {
    ASSERT_OK(rc_chat_add(chat.get(), message.data(), message.size()));
    rc_generate_options wanted = RC_GENERATE_OPTIONS_INIT;
    wanted.max_tokens = 5;
    wanted.ignore_eos = 1;
    rc_request* request = nullptr;
    ASSERT_OK(rc_chat_answer_async(chat.get(), &wanted, nullptr, nullptr,
                                   nullptr, &request));
    const Request owned(request);
    ASSERT_OK(rc_request_wait(request, -1));
  };
  answer();
  ASSERT_OK(switch_to(backend, "reference"));
  answer();
  char* messages = nullptr;
  ASSERT_OK(rc_chat_messages(chat.get(), &messages, nullptr));
  const std::string all = messages;
  rc_free(messages);
  EXPECT_EQ(std::count(all.begin(), all.end(), '{'), 4) << all;
}

// A stream that is under way while the device changes.
struct Stream {
  std::mutex mutex;
  std::condition_variable changed;
  int pieces = 0;
  bool ended = false;
  rc_status status = RC_OK;

  static void receive(void* user, const rc_event* event) {
    auto& stream = *static_cast<Stream*>(user);
    const std::lock_guard lock(stream.mutex);
    ++stream.pieces;
    if (event->type == RC_EVENT_END) {
      stream.ended = true;
      stream.status = event->report->status;
    }
    stream.changed.notify_all();
  }
  void wait_for(const std::function<bool()>& holds) {
    std::unique_lock lock(mutex);
    changed.wait(lock, holds);
  }
  int count() {
    const std::lock_guard lock(mutex);
    return pieces;
  }
};

Request begin(const Session& session, Stream& stream) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.ignore_eos = 1;
  rc_request* request = nullptr;
  EXPECT_OK(rc_generate_async(session.get(), &options, nullptr, Stream::receive,
                              &stream, &request));
  return Request(request);
}

TEST(BackendSwitch, RequestsInFlightMove) {
  const Backend backend = open_backend("cpu");
  const Model model = load_model(backend.get());
  const Session session = create_endless_session(model.get());
  Stream stream;
  const Request request = begin(session, stream);
  stream.wait_for([&] { return stream.pieces > 0; });
  ASSERT_OK(switch_to(backend, "reference"));
  EXPECT_EQ(device_of(model), "reference:0");
  const int before = stream.count();
  stream.wait_for([&] { return stream.pieces > before + 5; });
  EXPECT_OK(rc_request_cancel(request.get()));
  stream.wait_for([&] { return stream.ended; });
  EXPECT_EQ(stream.status, RC_E_CANCELLED);
}

// Requests may end where they began, for as long as the caller likes; others
// begin meanwhile.
TEST(BackendSwitch, WaitsForRequestsUntilTheTimeout) {
  const Backend backend = open_backend("cpu");
  const Model model = load_model(backend.get());
  const Session session = create_endless_session(model.get());
  const Session other = create_session(model.get());
  Stream stream;
  const Request request = begin(session, stream);
  stream.wait_for([&] { return stream.pieces > 0; });
  ASSERT_OK(switch_to(backend, "reference", 5));
  EXPECT_EQ(device_of(model), "reference:0");

  std::atomic<bool> is_over{false};
  std::thread waiting([&] {
    EXPECT_OK(switch_to(backend, "cpu", -1));
    is_over = true;
  });
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(generate(other.get()).empty());
  EXPECT_FALSE(is_over);
  EXPECT_EQ(device_of(model), "reference:0");
  EXPECT_OK(rc_request_cancel(request.get()));
  waiting.join();
  stream.wait_for([&] { return stream.ended; });
  EXPECT_EQ(device_of(model), "cpu:0");
  EXPECT_FALSE(generate(other.get()).empty());
}

// Many sessions are used while the device changes to and fro.
TEST(BackendSwitch, MovesConcurrentSessions) {
  const Backend backend = open_backend("cpu");
  const Model model = load_model(backend.get());
  std::atomic<bool> stop{false};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const Session session = create_session(model.get());
        for (int turn = 0; turn < 3; ++turn) {
          rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
          options.prompt = "hello";
          options.prompt_length = 5;
          options.max_tokens = 2;
          options.ignore_eos = 1;
          int64_t position = 0;
          EXPECT_OK(rc_session_position(session.get(), &position));
          char* text = nullptr;
          const rc_status status =
              rc_generate(session.get(), &options, &text, nullptr, nullptr);
          rc_free(text);
          EXPECT_OK(status);
          int64_t after = 0;
          EXPECT_OK(rc_session_position(session.get(), &after));
          EXPECT_GT(after, position);
          ++done;
        }
      }
    });
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_OK(switch_to(backend, i % 2 == 0 ? "reference" : "cpu"));
    const int before = done;
    while (done < before + 3) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device_of(model), "cpu:0");
}

// After a failure everything is as it was.
TEST(BackendSwitch, FailuresLeaveTheModelsUsable) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &opened));
  Backend backend(opened);
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  const std::string text = generate(session.get());
  const auto unchanged = [&] {
    EXPECT_EQ(device_of(backend), "cpu");
    EXPECT_EQ(device_of(model), "cpu:0");
    EXPECT_EQ(generate(session.get()), text);
    EXPECT_EQ(memory_of(backend), bytes_of(model));
  };
  EXPECT_FAILS(RC_E_NOT_FOUND, switch_to(backend, "nothing"), "nothing");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, switch_to(backend, "cpu:x"), "cpu:x");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_backend_switch(nullptr, "cpu", nullptr), "backend: NULL");
  rc_backend_switch_options cancelling = RC_BACKEND_SWITCH_OPTIONS_INIT;
  cancelling.progress = [](void*, double done) -> int32_t {
    return done > 0.5 ? 1 : 0;
  };
  EXPECT_FAILS(RC_E_CANCELLED,
               rc_backend_switch(backend.get(), "reference", &cancelling));
  unchanged();
}

void dispatch(const Loop& loop) {
  EXPECT_OK(rc_loop_wait(loop.get(), 60000));
  EXPECT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
}

TEST(BackendSwitch, AsyncSwitchEndsOnTheLoop) {
  Backend backend = open_backend("cpu");
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  rc_loop* made = nullptr;
  ASSERT_OK(rc_loop_create(&made));
  const Loop loop(made);
  struct End {
    int calls = 0;
    rc_status status = RC_OK;
    std::string message;
  } end;
  const rc_backend_switch_callback callback = [](void* user, rc_status status,
                                                 const char* message) {
    auto& end = *static_cast<End*>(user);
    ++end.calls;
    end.status = status;
    end.message = message == nullptr ? "" : message;
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_backend_switch_async(backend.get(), "reference", nullptr,
                                       loop.get(), nullptr, nullptr),
               "callback");
  const auto run = [&](const char* spec) {
    const int before = end.calls;
    ASSERT_OK(rc_backend_switch_async(backend.get(), spec, nullptr, loop.get(),
                                      callback, &end));
    while (end.calls == before) dispatch(loop);
    EXPECT_EQ(end.calls, before + 1);
  };
  run("reference");
  EXPECT_EQ(end.status, RC_OK) << end.message;
  EXPECT_EQ(device_of(model), "reference:0");
  run("nothing");
  EXPECT_EQ(end.status, RC_E_NOT_FOUND);
  EXPECT_NE(end.message.find("nothing"), std::string::npos);
  EXPECT_FALSE(generate(session.get()).empty());
  // The handle may go meanwhile.
  ASSERT_OK(rc_backend_switch_async(backend.get(), "cpu", nullptr, loop.get(),
                                    callback, &end));
  backend.reset();
  while (end.calls < 3) dispatch(loop);
  EXPECT_EQ(end.status, RC_OK) << end.message;
  EXPECT_EQ(device_of(model), "cpu:0");
}

}  // namespace
}  // namespace rc::test
