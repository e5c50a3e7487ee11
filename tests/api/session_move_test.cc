// Sessions that move to models of other handles while texts are generated.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "labels.h"
#include "switch_util.h"
#include "tenant_util.h"
#include "text_under_way.h"

namespace rc::test {
namespace {

constexpr int kMovedTokens = 60;

std::string prompt_of(size_t i) {
  return "Story " + std::to_string(i) + ": The fox";
}

// Two engines of the same kind of device.
class SessionsThatMove : public testing::Test {
 protected:
  const Backend first_ = open_backend("cpu");
  const Backend second_ = open_backend("cpu");
  Model here_ = load_with_cache(first_, 2048);
  Model there_ = load_with_cache(second_, 1600);
};

TEST_F(SessionsThatMove, HaveTheTextsOfThoseThatStay) {
  constexpr size_t kSessions = 6;
  std::array<TextUnderWay, kSessions> stay;
  std::array<TextUnderWay, kSessions> move;
  std::vector<Session> sessions;
  std::vector<Request> requests;
  for (size_t i = 0; i < kSessions; ++i) {
    for (TextUnderWay* text : {&stay[i], &move[i]}) {
      sessions.push_back(create_session(here_.get()));
      requests.push_back(
          begin_text(sessions.back(), *text, prompt_of(i), kMovedTokens, i));
    }
  }
  // The tokens so far decide when a session moves, and not the time.
  for (size_t step = 0; step < 12; ++step) {
    const size_t i = step % kSessions;
    move[i].wait_for_tokens(4 * (step + 1));
    const Model& to = step / kSessions % 2 == 0 ? there_ : here_;
    EXPECT_OK(rc_session_move(sessions[2 * i + 1].get(), to.get()));
  }
  for (size_t i = 0; i < kSessions; ++i) {
    stay[i].wait();
    move[i].wait();
    expect_whole(sessions[2 * i + 1], move[i], kMovedTokens);
    EXPECT_EQ(move[i].tokens, stay[i].tokens) << i;
    EXPECT_EQ(move[i].text, stay[i].text) << i;
  }
}

// Generates texts that move among all devices, until there were so many moves.
void move_under_load(size_t sessions, int moves) {
  std::vector<Backend> backends;
  std::vector<Model> models;
  for (const std::string& spec : devices_to_move_among()) {
    backends.push_back(open_backend(spec.c_str()));
    models.push_back(
        load_with_cache(backends.back(), 192 * static_cast<int64_t>(sessions)));
  }
  std::mt19937 random(11);
  for (int done = 0; done < moves;) {
    std::vector<Session> opened;
    std::vector<TextUnderWay> texts(sessions);
    std::vector<Request> requests;
    for (size_t i = 0; i < sessions; ++i) {
      opened.push_back(create_session(models[i % models.size()].get()));
      requests.push_back(
          begin_text(opened[i], texts[i], prompt_of(i), kMovedTokens, i));
    }
    const auto under_way = [&] {
      return std::any_of(texts.begin(), texts.end(),
                         [](TextUnderWay& text) { return !text.ended(); });
    };
    while (done < moves && under_way()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 10));
      ASSERT_OK(rc_session_move(opened[random() % sessions].get(),
                                models[random() % models.size()].get()));
      ++done;
    }
    for (size_t i = 0; i < sessions; ++i) {
      texts[i].wait();
      expect_whole(opened[i], texts[i], kMovedTokens);
    }
  }
}

TEST(SessionMoveUnderLoad, NoTokenIsLostOrRepeated) { move_under_load(8, 30); }

TEST(SessionMoveUnderLoad, NoTokenIsLostOrRepeatedInManyMoves) {
  RC_TEST_LABELS(kFull, kDriver);
  move_under_load(32, 1000);
}

TEST_F(SessionsThatMove, KeepTheModelTheyAreAt) {
  const Session session = create_session(here_.get());
  TextUnderWay text;
  const Request request = begin_text(session, text, prompt_of(0), kMovedTokens);
  text.wait_for_tokens(5);
  ASSERT_OK(rc_session_move(session.get(), there_.get()));
  here_.reset();
  EXPECT_EQ(memory_of(first_), 0u);
  // The weights too, which both had.
  const uint64_t held = memory_of(second_);
  EXPECT_EQ(held, bytes_of(there_));
  there_.reset();
  EXPECT_EQ(memory_of(second_), held);
  text.wait();
  expect_whole(session, text, kMovedTokens);
}

TEST_F(SessionsThatMove, StayOnTheirAccount) {
  const Tenant payer = make_tenant("payer");
  const Tenant host = make_tenant("host");
  const Backend from = open_for(payer.get(), "cpu");
  const Backend to = open_for(host.get(), "reference");
  const Model model = load_with_cache(from, 512);
  const Model target = load_with_cache(to, 512);
  const Session session = create_session(model.get());
  ASSERT_OK(rc_session_move(session.get(), target.get()));
  EXPECT_FALSE(greedy(session.get(), "The fox", 5).empty());
  EXPECT_EQ(usage_of(payer.get()).generated_tokens, 5u);
  EXPECT_GT(usage_of(payer.get()).device_us, 0u);
  EXPECT_EQ(usage_of(payer.get()).sessions, 1);
  EXPECT_EQ(usage_of(host.get()).generated_tokens, 0u);
  EXPECT_EQ(usage_of(host.get()).device_us, 0u);
  EXPECT_EQ(usage_of(host.get()).sessions, 0);
}

TEST_F(SessionsThatMove, GoWithTheirNewModel) {
  const Session session = create_session(here_.get());
  ASSERT_OK(rc_session_move(session.get(), there_.get()));
  TextUnderWay text;
  const Request request = begin_text(session, text, prompt_of(0), kMovedTokens);
  text.wait_for_tokens(2);
  // Waits for the requests of its models, of which the text is none any more.
  ASSERT_OK(switch_to(first_, "reference", -1));
  // Of these it is one: the model is not left before it has ended.
  ASSERT_OK(switch_to(second_, "reference", -1));
  int64_t position = 0;
  EXPECT_OK(rc_session_position(session.get(), &position));
  text.wait();
  expect_whole(session, text, kMovedTokens);
  EXPECT_GT(memory_of(first_), 0u);
  here_.reset();
  EXPECT_FALSE(greedy(session.get(), " and", 4).empty());
}

TEST_F(SessionsThatMove, ForkWhereTheyAre) {
  const Session session = create_session(here_.get());
  EXPECT_FALSE(greedy(session.get(), "The fox", 5).empty());
  ASSERT_OK(rc_session_move(session.get(), there_.get()));
  rc_session* made = nullptr;
  ASSERT_OK(rc_session_fork(session.get(), &made));
  const Session fork(made);
  here_.reset();
  EXPECT_EQ(memory_of(first_), 0u);
  EXPECT_EQ(greedy(fork.get(), " and", 8), greedy(session.get(), " and", 8));
  // To the model where it is.
  EXPECT_OK(rc_session_move(fork.get(), there_.get()));
  EXPECT_EQ(greedy(fork.get(), " so", 8), greedy(session.get(), " so", 8));
}

TEST_F(SessionsThatMove, TakeTheirConversationAlong) {
  const std::string path = source_path("examples/chat_model/fabulist.gguf");
  const auto load = [&](const Backend& backend, int64_t cache_tokens) {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 256;
    options.cache_tokens = cache_tokens;
    rc_model* model = nullptr;
    EXPECT_OK(rc_model_load(backend.get(), path.c_str(), &options, &model));
    return Model(model);
  };
  const Model from = load(first_, 1024);
  const Model to = load(second_, 768);
  const auto answer = [&](bool moves) {
    const Session session = create_session(from.get());
    rc_chat* made = nullptr;
    EXPECT_OK(rc_chat_create(session.get(), nullptr, &made));
    const Conversation chat(made);
    EXPECT_OK(rc_chat_add(chat.get(), kHello, sizeof kHello - 1));
    TextUnderWay text;
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.max_tokens = 20;
    options.temperature = 0;
    options.ignore_eos = 1;
    rc_request* request = nullptr;
    EXPECT_OK(rc_chat_answer_async(chat.get(), &options, nullptr,
                                   TextUnderWay::receive, &text, &request));
    const Request held(request);
    text.wait_for_tokens(3);
    if (moves) {
      EXPECT_OK(rc_session_move(session.get(), to.get()));
    }
    text.wait();
    EXPECT_EQ(text.report.status, RC_OK);
    rc_chat* fork = nullptr;
    EXPECT_OK(rc_chat_fork(chat.get(), &fork));
    rc_chat_release(fork);
    return text.text;
  };
  EXPECT_EQ(answer(true), answer(false));
}

TEST_F(SessionsThatMove, AreRefusedWhereTheyCannotGoOn) {
  const Session session = create_session(here_.get());
  const Model other = load_model(second_.get());
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_session_move(session.get(), other.get()),
               "fable.gguf", "cannot move to another model");
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 64;
  options.output = RC_OUTPUT_HIDDEN_ROWS;
  rc_model* made = nullptr;
  const std::string path = source_path("examples/model/fable.gguf");
  ASSERT_OK(rc_model_load(second_.get(), path.c_str(), &options, &made));
  const Model rows(made);
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_session_move(session.get(), rows.get()),
               "another option `output`: hidden rows, not logits");
  options.output = RC_OUTPUT_AUTO;
  ASSERT_OK(rc_model_load(second_.get(), path.c_str(), &options, &made));
  const Model narrow(made);
  EXPECT_FALSE(greedy(session.get(), "The fox", 80).empty());
  EXPECT_FAILS(RC_E_CONTEXT_FULL, rc_session_move(session.get(), narrow.get()),
               "64", "truncate the session");
  // It is where it was.
  here_.reset();
  EXPECT_GT(memory_of(first_), 0u);
  EXPECT_FALSE(greedy(session.get(), " and", 4).empty());
  ASSERT_OK(rc_session_truncate(session.get(), 0));
  EXPECT_OK(rc_session_move(session.get(), narrow.get()));
  EXPECT_EQ(memory_of(first_), 0u);
}

// Moves, switches, forks and texts at once.
TEST_F(SessionsThatMove, AtOnceWithEverythingElse) {
  std::atomic<bool> over{false};
  std::vector<Session> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(create_session(here_.get()));
  }
  const auto until_over = [&](const auto& function) {
    return std::thread([&, function] {
      for (size_t i = 0; !over; ++i) function(i);
    });
  };
  std::vector<std::thread> threads;
  for (const Model* to : {&here_, &there_}) {
    threads.push_back(until_over([&, to](size_t i) {
      EXPECT_OK(rc_session_move(sessions[i % 4].get(), to->get()));
    }));
  }
  threads.push_back(until_over([&](size_t i) {
    EXPECT_OK(switch_to(first_, i % 2 == 0 ? "reference" : "cpu"));
  }));
  threads.push_back(until_over([&](size_t i) {
    rc_session* fork = nullptr;
    const rc_status status = rc_session_fork(sessions[i % 4].get(), &fork);
    if (status != RC_OK) {
      EXPECT_EQ(status, RC_E_BUSY) << rc_error_message();
    }
    rc_session_release(fork);
  }));
  for (size_t round = 0; round < 6; ++round) {
    std::array<TextUnderWay, 4> texts;
    std::vector<Request> requests;
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_OK(rc_session_truncate(sessions[i].get(), 0));
      requests.push_back(begin_text(sessions[i], texts[i], prompt_of(i), 20));
    }
    for (size_t i = 0; i < 4; ++i) {
      texts[i].wait();
      EXPECT_EQ(texts[i].report.status, RC_OK);
      EXPECT_EQ(texts[i].tokens.size(), 20u);
    }
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rc::test
