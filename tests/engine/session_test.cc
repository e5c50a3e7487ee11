// Sessions: tokens, logits, fork, truncate, save and restore.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "engine_util.h"
#include "gguf/writer.h"

namespace rc::engine::test {
namespace {

template <class Call>
void expect_status(rc_status status, const Call& call,
                   const std::string& part = "") {
  try {
    call();
    ADD_FAILURE() << "no error, but expected is " << status;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

std::shared_ptr<Session> session_with(Engine& engine,
                                      const std::vector<TokenId>& tokens) {
  auto session = engine.create_session({}, nullptr);
  session->append(tokens);
  return session;
}

uint64_t decoded(Session& session) {
  session.decode(false);
  return hash_logits(session);
}

TEST(Session, KeepsItsTokens) {
  const auto engine = load();
  const auto session = engine->create_session({}, nullptr);
  EXPECT_EQ(session->position(), 0);
  EXPECT_TRUE(session->tokens().empty());
  session->append({1, 5, 6});
  session->append({});
  session->append({7});
  EXPECT_EQ(session->position(), 4);
  EXPECT_EQ(session->tokens(), std::vector<TokenId>({1, 5, 6, 7}));
  EXPECT_EQ(session->engine(), engine);
}

TEST(Session, RefusesTokensOutsideTheVocabulary) {
  const auto engine = load();
  const auto session = session_with(*engine, {1});
  expect_status(
      RC_E_INVALID_ARGUMENT,
      [&] {
        session->append({3, 272});
      },
      "tokens[1] is 272");
  expect_status(RC_E_INVALID_ARGUMENT, [&] { session->append({-1}); });
  EXPECT_EQ(session->position(), 1);
}

TEST(Session, TextBeginsWithBosOnlyOnce) {
  const auto engine = load();
  const auto session = engine->create_session({}, nullptr);
  session->append_text("ab", RC_TOKENIZE_ADD_SPECIAL);
  const auto first = session->tokens();
  EXPECT_EQ(first[0], 1);
  session->append_text("ab", RC_TOKENIZE_ADD_SPECIAL);
  const auto both = session->tokens();
  EXPECT_EQ(both.size(), 2 * first.size() - 1);
}

TEST(Session, FullContextChangesNothing) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(250));
  expect_status(
      RC_E_CONTEXT_FULL, [&] { session->append(some_tokens(7)); }, "256");
  EXPECT_EQ(session->position(), 250);
  session->append(some_tokens(6));
  session->decode(false);
  EXPECT_EQ(session->position(), 256);
}

TEST(Session, AppendShiftsWhereItMay) {
  const auto engine = load();
  SessionOptions options;
  options.context_length = 20;
  options.shift_when_full = true;
  options.keep_tokens = 2;
  const auto session = engine->create_session(options, nullptr);
  const auto tokens = some_tokens(20);
  session->append(tokens);
  session->append({5});
  // 21 are too many: of the 19 after the first two 9 go.
  std::vector<TokenId> left(tokens.begin(), tokens.begin() + 2);
  left.insert(left.end(), tokens.begin() + 11, tokens.end());
  left.push_back(5);
  EXPECT_EQ(session->tokens(), left);
  EXPECT_EQ(decoded(*session), decoded(*session_with(*engine, left)));
}

TEST(Session, OptionsOutOfRange) {
  const auto engine = load();
  SessionOptions options;
  options.context_length = 257;
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { engine->create_session(options, nullptr); },
      "256");
  options.context_length = -1;
  expect_status(RC_E_INVALID_ARGUMENT,
                [&] { engine->create_session(options, nullptr); });
  options = SessionOptions();
  options.keep_tokens = -1;
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { engine->create_session(options, nullptr); },
      "keep");
  options.keep_tokens = 255;
  options.shift_when_full = true;
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { engine->create_session(options, nullptr); },
      "keep");
}

TEST(Session, LogitsAreThoseOfTheLastDecode) {
  const auto engine = load();
  const auto session = engine->create_session({}, nullptr);
  expect_status(RC_E_INVALID_ARGUMENT, [&] { session->decode(false); });
  expect_status(RC_E_NOT_FOUND, [&] { session->logits(); });
  session->append(some_tokens(10));
  session->decode(false);
  EXPECT_EQ(session->logits().rows, 1u);
  EXPECT_EQ(session->logits().vocabulary, 272u);
  const uint64_t hash = hash_logits(*session);
  EXPECT_EQ(decoded(*session), hash);  // the last token once more
  session->append({9});
  expect_status(RC_E_NOT_FOUND, [&] { session->logits(); });
  session->truncate(10);
  EXPECT_EQ(decoded(*session), hash);
}

TEST(Session, AllLogitsOfWhatIsNew) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(100));
  session->decode(false);
  session->append({5, 6, 7});
  session->decode(true);
  EXPECT_EQ(session->logits().rows, 3u);
}

TEST(Session, TruncateForgets) {
  const auto engine = load();
  const auto tokens = some_tokens(100);
  for (size_t position : {1, 31, 32, 33, 64, 99}) {
    const std::vector<TokenId> kept(
        tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(position));
    const auto session = session_with(*engine, tokens);
    session->decode(false);
    session->truncate(static_cast<int64_t>(position));
    session->append({200, 201});
    auto expected = kept;
    expected.insert(expected.end(), {200, 201});
    EXPECT_EQ(session->tokens(), expected);
    EXPECT_EQ(decoded(*session), decoded(*session_with(*engine, expected)));
  }
  const auto session = session_with(*engine, tokens);
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { session->truncate(101); }, "100");
  expect_status(RC_E_INVALID_ARGUMENT, [&] { session->truncate(-1); });
  session->truncate(0);
  EXPECT_EQ(session->position(), 0);
}

// What one session writes after a truncation must not show in others that share
// its pages.
TEST(Session, TruncateAndWriteLeavesSharedPagesAlone) {
  const auto engine = load();
  const auto tokens = some_tokens(100);
  const auto session = session_with(*engine, tokens);
  const uint64_t expected = decoded(*session);
  const auto fork = session->fork();
  fork->truncate(70);
  fork->append(some_tokens(25, 9));
  fork->decode(false);
  EXPECT_EQ(decoded(*session), expected);
  EXPECT_EQ(decoded(*session_with(*engine, tokens)), expected);
}

TEST(Session, ForksGoTheirOwnWay) {
  for (const bool prefix_cache : {false, true}) {
    EngineOptions options = small_options();
    options.prefix_cache = prefix_cache;
    const auto engine = load(options);
    const auto session = session_with(*engine, some_tokens(75));
    session->decode(false);
    const auto fork = session->fork();
    EXPECT_EQ(fork->tokens(), session->tokens());
    const auto a = generate(*session, greedy({5}, 30));
    const auto b = generate(*fork, greedy({6}, 30));
    auto prompt = some_tokens(75);
    prompt.push_back(5);
    EXPECT_EQ(generate(*engine, greedy(prompt, 30)).tokens, a.tokens);
    prompt.back() = 6;
    EXPECT_EQ(generate(*engine, greedy(prompt, 30)).tokens, b.tokens);
  }
}

TEST(Session, AForkOutlivesItsOrigin) {
  const auto engine = load();
  std::shared_ptr<Session> fork;
  {
    const auto session = session_with(*engine, some_tokens(75));
    session->decode(false);
    fork = session->fork();
  }
  EXPECT_EQ(decoded(*fork), decoded(*session_with(*engine, some_tokens(75))));
}

TEST(Session, BusyWhileARequestIsInFlight) {
  const auto engine = load();
  SessionOptions shifting;
  shifting.shift_when_full = true;
  const auto session = engine->create_session(shifting, nullptr);
  const auto hearer = std::make_shared<Hearer>();
  const auto request =
      session->generate(greedy(some_tokens(10), 1000000), hearer);
  hearer->wait_for_tokens(3);
  expect_status(
      RC_E_BUSY, [&] { session->append({5}); }, "1 request");
  expect_status(RC_E_BUSY, [&] { session->append_text("a", 0); });
  expect_status(RC_E_BUSY, [&] { session->decode(false); });
  expect_status(RC_E_BUSY, [&] { session->logits(); });
  expect_status(RC_E_BUSY, [&] { session->position(); });
  expect_status(RC_E_BUSY, [&] { session->tokens(); });
  expect_status(RC_E_BUSY, [&] { session->truncate(0); });
  expect_status(RC_E_BUSY, [&] { session->fork(); });
  expect_status(RC_E_BUSY, [&] { session->save(); });
  request->cancel();
  hearer->wait();
  session->truncate(0);
}

TEST(Session, AReleasedSessionFinishesItsRequests) {
  const auto engine = load();
  const auto hearer = std::make_shared<Hearer>();
  engine->create_session({}, nullptr)
      ->generate(greedy(some_tokens(10), 20), hearer);
  EXPECT_EQ(hearer->wait().reason, RC_END_LENGTH);
}

// The engine thread itself drops the last reference to the engine.
TEST(Session, TheLastReferenceMayBeTheRequests) {
  const auto hearer = std::make_shared<Hearer>();
  {
    auto engine = load();
    engine->create_session({}, nullptr)
        ->generate(greedy(some_tokens(10), 20), hearer);
  }
  EXPECT_EQ(hearer->wait().reason, RC_END_LENGTH);
}

// Idle sessions give their pages to others and go on as if they had them.
TEST(Session, IdleSessionsAreComputedAgain) {
  EngineOptions options = small_options();
  options.cache_tokens = 256;
  options.prefix_cache = false;
  const auto engine = load(options);
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<uint64_t> expected;
  for (uint32_t i = 0; i < 4; ++i) {
    sessions.push_back(session_with(*engine, some_tokens(100, i)));
    expected.push_back(decoded(*sessions.back()));
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(decoded(*sessions[i]), expected[i]);
}

TEST(Session, ASessionLargerThanTheCacheIsToldSo) {
  EngineOptions options = small_options();
  options.cache_tokens = 64;
  const auto engine = load(options);
  const auto session = session_with(*engine, some_tokens(100));
  expect_status(
      RC_E_DEVICE_MEMORY, [&] { session->decode(false); }, "cache_tokens");
  EXPECT_EQ(session->position(), 100);
  session->truncate(60);
  session->decode(false);
  const Result result = generate(*engine, greedy(some_tokens(50), 30));
  EXPECT_EQ(result.report.status, RC_E_DEVICE_MEMORY);
  EXPECT_EQ(result.tokens.size(), 15u);
}

// A session that fills the whole cache and shares its last page with a fork and
// the prefix cache still finds a page to write to.
TEST(Session, TheWholeCacheCanBeUsed) {
  EngineOptions options = small_options();
  options.context_length = options.cache_tokens = 128;
  const auto engine = load(options);
  const auto session = session_with(*engine, some_tokens(128));
  const uint64_t expected = decoded(*session);
  const auto fork = session->fork();
  EXPECT_EQ(decoded(*session), expected);
  EXPECT_EQ(decoded(*fork), expected);
  fork->truncate(100);
  EXPECT_EQ(decoded(*fork), decoded(*session_with(*engine, fork->tokens())));
}

class Saved : public ::testing::Test {
 protected:
  std::shared_ptr<Session> restore(const std::vector<std::byte>& bytes,
                                   const SessionOptions& options = {}) {
    return engine_->restore_session(
        *gguf::File::from_memory(nullptr, bytes, "saved"), options, nullptr);
  }
  // The file with something changed.
  std::vector<std::byte> changed(
      const std::function<bool(gguf::Writer&, const gguf::Entry&)>& entry,
      const std::function<bool(gguf::Writer&, const gguf::Tensor&)>& tensor =
          {}) {
    const auto file = gguf::File::from_memory(nullptr, bytes_, "saved");
    gguf::Writer writer;
    for (const gguf::Entry& e : file->entries()) {
      if (!entry || !entry(writer, e)) writer.add(e);
    }
    for (const gguf::Tensor& t : file->tensors()) {
      if (!tensor || !tensor(writer, t)) {
        writer.add_tensor(t.name, t.dtype, t.shape,
                          [&](const auto& put) { put(file->read(t)); });
      }
    }
    return writer.write_memory();
  }
  template <class Value>
  std::vector<std::byte> with(const std::string& key, const Value& value) {
    return changed([&](gguf::Writer& writer, const gguf::Entry& entry) {
      if (entry.key != key) return false;
      if constexpr (std::is_same_v<Value, std::vector<int32_t>>) {
        writer.add_array(key, value);
      } else {
        writer.add(key, value);
      }
      return true;
    });
  }
  std::vector<std::byte> without(const std::string& name) {
    return changed(
        [&](gguf::Writer&, const gguf::Entry& e) { return e.key == name; },
        [&](gguf::Writer&, const gguf::Tensor& t) { return t.name == name; });
  }

  void SetUp() override {
    engine_ = load();
    session_ = session_with(*engine_, some_tokens(75));
    expected_ = decoded(*session_);
    session_->append({5, 6});
    bytes_ = session_->save();
  }

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Session> session_;
  uint64_t expected_ = 0;
  std::vector<std::byte> bytes_;
};

TEST_F(Saved, ComesBack) {
  const auto restored = restore(bytes_);
  EXPECT_EQ(restored->tokens(), session_->tokens());
  EXPECT_EQ(decoded(*restored), decoded(*session_));
  // It has the pages, too: only the two new tokens need to be evaluated.
  EXPECT_EQ(generate(*restore(bytes_), greedy({7}, 1)).report.prompt_tokens, 3);
}

TEST_F(Saved, ThroughAFile) {
  const auto path =
      std::filesystem::temp_directory_path() / "runcible_session_test.gguf";
  session_->save(path.string());
  const auto restored = engine_->restore_session(
      *gguf::File::open(path.string()), SessionOptions(), nullptr);
  std::filesystem::remove(path);
  EXPECT_EQ(decoded(*restored), decoded(*session_));
  expect_status(
      RC_E_NOT_FOUND, [&] { session_->save("/nowhere/at/all.gguf"); },
      "/nowhere/at/all.gguf");
}

TEST_F(Saved, EmptyAndUnevaluatedSessionsToo) {
  const auto empty = engine_->create_session({}, nullptr);
  EXPECT_EQ(restore(empty->save())->position(), 0);
  empty->append(some_tokens(5));
  EXPECT_EQ(restore(empty->save())->tokens(), some_tokens(5));
}

TEST_F(Saved, BetweenBackendsAndCacheTypes) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    EngineOptions options = small_options();
    options.cache_dtype = dtype;
    const auto cpu = load(options, "cpu", 1, "llama3");
    const auto reference = load(options, "reference", 1, "llama3");
    const auto session = session_with(*cpu, some_tokens(75));
    session->decode(false);
    const auto bytes = session->save();
    const auto file = gguf::File::from_memory(nullptr, bytes, "saved");
    const auto moved = reference->restore_session(*file, {}, nullptr);
    EXPECT_EQ(moved->tokens(), session->tokens());
    // Nothing of it is lost on the way there and back.
    const auto again = moved->save();
    const auto back = cpu->restore_session(
        *gguf::File::from_memory(nullptr, again, "saved"), {}, nullptr);
    EXPECT_EQ(decoded(*back), decoded(*session));
  }
}

TEST_F(Saved, OfAnotherModelOrCacheIsRefused) {
  const auto file = gguf::File::from_memory(nullptr, bytes_, "saved");
  const auto other = load(small_options(), "cpu", 1, "smollm");
  expect_status(
      RC_E_UNSUPPORTED, [&] { other->restore_session(*file, {}, nullptr); },
      "another model");
  EngineOptions options = small_options();
  options.cache_dtype = RC_DTYPE_F32;
  const auto wide = load(options);
  expect_status(
      RC_E_UNSUPPORTED, [&] { wide->restore_session(*file, {}, nullptr); },
      "cache_dtype");
  SessionOptions shorter;
  shorter.context_length = 70;
  expect_status(
      RC_E_CONTEXT_FULL, [&] { restore(bytes_, shorter); }, "77");
}

TEST_F(Saved, HostileFilesAreRefused) {
  const std::string prefix = "runcible.session.";
  const auto refused = [&](const std::vector<std::byte>& bytes,
                           const std::string& part,
                           rc_status status = RC_E_FORMAT) {
    expect_status(
        status, [&] { restore(bytes); }, part);
  };
  refused(with("general.architecture", std::string_view("llama")),
          "not a saved session");
  refused(with(prefix + "version", uint32_t{2}), "version 2", RC_E_UNSUPPORTED);
  refused(with(prefix + "model", uint64_t{1}), "another model",
          RC_E_UNSUPPORTED);
  refused(with(prefix + "model", int32_t{1}), "model");
  refused(with(prefix + "cache_type", std::string_view("Q4_K")), "Q4_K",
          RC_E_UNSUPPORTED);
  refused(with(prefix + "evaluated", uint64_t{78}), "78");
  refused(with(prefix + "evaluated", uint64_t{74}), "blk.0.key");
  refused(with(prefix + "evaluated", ~uint64_t{0}), "evaluated");
  refused(with(prefix + "evaluated", int32_t{-1}), "-1");
  refused(with(prefix + "tokens", std::vector<int32_t>(77, 272)), "272");
  refused(with(prefix + "tokens", std::vector<int32_t>(77, -1)), "-1");
  refused(with(prefix + "tokens", std::vector<int32_t>(257, 1)), "257",
          RC_E_CONTEXT_FULL);
  for (const char* key :
       {"version", "model", "cache_type", "tokens", "evaluated"}) {
    refused(without(prefix + key), prefix + key);
  }
  refused(without("blk.1.value"), "blk.1.value");
  refused(changed({},
                  [](gguf::Writer& writer, const gguf::Tensor& tensor) {
                    if (tensor.name != "blk.1.key") return false;
                    std::vector<int64_t> shape = tensor.shape;
                    std::swap(shape[0], shape[1]);
                    writer.add_tensor(tensor.name, tensor.dtype, shape,
                                      [size = tensor.bytes](const auto& put) {
                                        put(std::vector<std::byte>(size));
                                      });
                    return true;
                  }),
          "blk.1.key");
}

TEST_F(Saved, NumbersThatNoModelComputesAreRefused) {
  std::vector<std::byte> data;
  const auto bytes =
      changed({}, [&](gguf::Writer& writer, const gguf::Tensor& tensor) {
        if (tensor.name != "blk.0.value") return false;
        data.resize(tensor.bytes);
        const uint16_t infinity = 0x7c00;
        std::memcpy(data.data() + 100, &infinity, sizeof infinity);
        const std::vector<int64_t> shape = tensor.shape;
        writer.add_tensor(tensor.name, tensor.dtype, shape,
                          [&](const auto& put) { put(data); });
        return true;
      });
  expect_status(
      RC_E_FORMAT, [&] { restore(bytes); }, "inf");
}

// Wrong numbers that look right are its own trouble, never anybody else's.
TEST_F(Saved, NeverGetsIntoThePrefixCache) {
  const auto bytes =
      changed({}, [&](gguf::Writer& writer, const gguf::Tensor& tensor) {
        const std::vector<int64_t> shape = tensor.shape;
        const size_t size = tensor.bytes;
        writer.add_tensor(
            tensor.name, tensor.dtype, shape,
            [size](const auto& put) { put(std::vector<std::byte>(size)); });
        return true;
      });
  const auto other = load(small_options(), "cpu", 2);  // an empty cache
  const auto forged = other->restore_session(
      *gguf::File::from_memory(nullptr, bytes, "forged"), {}, nullptr);
  generate(*forged, greedy({7}, 60));
  auto prompt = some_tokens(75);
  prompt.insert(prompt.end(), {5, 6, 7});
  EXPECT_EQ(generate(*other, greedy(prompt, 30)).tokens,
            generate(*engine_, greedy(prompt, 30)).tokens);
}

TEST_F(Saved, EveryTruncationIsRefused) {
  for (size_t size = 0; size < bytes_.size(); size += 61) {
    const std::vector<std::byte> part(
        bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    expect_status(RC_E_FORMAT, [&] { restore(part); });
  }
}

// A model that gives hidden rows can be planned and loaded, but has no
// sessions.
TEST(Session, IsOfAModelThatGivesText) {
  const auto file = small_model("bert");
  EXPECT_TRUE(plan(*file, open_device(), {}).fits);
  const auto engine = Engine::load(file, open_device(), {}, {});
  for (const char* part :
       {"bert.gguf", "architecture bert", "hidden rows", "text"}) {
    expect_status(
        RC_E_UNSUPPORTED, [&] { engine->create_session({}, nullptr); }, part);
  }
  const std::vector<std::byte> saved = session_with(*load(), {1, 5})->save();
  const auto from = gguf::File::from_memory(nullptr, saved, "saved");
  expect_status(
      RC_E_UNSUPPORTED, [&] { engine->restore_session(*from, {}, nullptr); },
      "hidden rows");
}

}  // namespace
}  // namespace rc::engine::test
