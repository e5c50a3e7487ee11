// Files of sessions whose checksum is right, but one of whose numbers is not,
// and the nearest that are taken.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "expect_error.h"
#include "files/gguf/writer.h"
#include "session_util.h"

namespace rc::engine::test {
namespace {

constexpr char kPrefix[] = "runcible.session.";

// The file with another number under the key, or with the key added.
std::vector<std::byte> with(const std::vector<std::byte>& bytes,
                            const std::string& key, int64_t value) {
  const auto file = gguf::File::from_memory(nullptr, bytes, "saved");
  gguf::Writer writer;
  writer.end_with_checksum();
  for (const gguf::Entry& entry : file->entries()) {
    if (entry.key != kPrefix + key) writer.add(entry);
  }
  writer.add(kPrefix + key, value);
  for (const gguf::Tensor& t : file->tensors()) {
    writer.add_tensor(t.name, t.dtype, t.shape,
                      [&](const auto& put) { put(file->read(t)); });
  }
  return writer.write_memory();
}

std::shared_ptr<Session> restore(Engine& engine,
                                 const std::vector<std::byte>& bytes) {
  return engine.restore_session(
      *gguf::File::from_memory(nullptr, bytes, "saved"), {}, nullptr);
}

void expect_refused(Engine& engine, const std::vector<std::byte>& bytes,
                    const std::string& message) {
  rc::test::expect_error(RC_E_FORMAT, message, [&] { restore(engine, bytes); });
}

TEST(SavedErrors, WrongChecksumErrorNamesTheSize) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(5));
  std::vector<std::byte> bytes = session->save();
  bytes.back() ^= std::byte{1};
  expect_refused(*engine, bytes,
                 "saved is damaged: its checksum is not that of its " +
                     std::to_string(bytes.size()) +
                     " bytes; take a copy of the saved session, or make it "
                     "again from its tokens");
  correct_checksum(&bytes);
  EXPECT_EQ(restore(*engine, bytes)->tokens(), some_tokens(5));
}

TEST(SavedErrors, WindowsMustBeginWithinTheEvaluatedTokens) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(75));
  const uint64_t expected = decoded(*session);
  const std::vector<std::byte> bytes = session->save();
  for (const int64_t begin : {-1, 76}) {
    expect_refused(*engine, with(bytes, "window_begin", begin),
                   "saved: runcible.session.window_begin is " +
                       std::to_string(begin) + " of 75 evaluated tokens");
  }
  // The layers of this model have no windows, so their rows are all there.
  for (const int64_t begin : {0, 75}) {
    const auto restored = restore(*engine, with(bytes, "window_begin", begin));
    EXPECT_EQ(restored->tokens(), some_tokens(75));
    EXPECT_EQ(decoded(*restored), expected);
  }
}

// Layers with a window have fewer rows than the others.
TEST(SavedErrors, RowsOfWindowsMustMatchTheirBegin) {
  EngineOptions options = small_options();
  const auto engine = load(options, "cpu", 1, "gemma2");
  const auto session = session_with(*engine, some_tokens(100));
  const uint64_t expected = decoded(*session);
  const std::vector<std::byte> bytes = session->save();
  const auto file = gguf::File::from_memory(nullptr, bytes, "saved");
  const int64_t begin = file->find("runcible.session.window_begin") == nullptr
                            ? 0
                            : file->get_int("runcible.session.window_begin");
  EXPECT_EQ(decoded(*restore(*engine, with(bytes, "window_begin", begin))),
            expected);
  for (const int64_t other : {begin + 1, int64_t{100}}) {
    try {
      restore(*engine, with(bytes, "window_begin", other));
      ADD_FAILURE() << other;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT);
      EXPECT_NE(error.message().find("is not F16 [" +
                                     std::to_string(100 - other) + ", "),
                std::string::npos)
          << error.message();
    }
  }
  expect_refused(
      *engine, with(bytes, "window_begin", 101),
      "saved: runcible.session.window_begin is 101 of 100 evaluated tokens");
}

TEST(SavedErrors, EvaluatedCountMustNotExceedTheTokens) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(10));
  const std::vector<std::byte> bytes = session->save();
  for (const int64_t evaluated : {-1, 11}) {
    expect_refused(*engine, with(bytes, "evaluated", evaluated),
                   "saved: runcible.session.evaluated is " +
                       std::to_string(evaluated) + " of 10 tokens");
  }
  // No row of the cache is there.
  expect_refused(*engine, with(bytes, "evaluated", 10),
                 "saved: tensor blk.0.key is missing");
  EXPECT_EQ(restore(*engine, with(bytes, "evaluated", 0))->tokens(),
            some_tokens(10));
}

TEST(SavedErrors, InvalidSourcesAreRefused) {
  const std::vector<TokenId> source = {5, 6, 7, 8, 9};
  const auto reader = load(small_options(), "cpu", 1, "t5");
  const auto session = session_with(*reader, source);
  const uint64_t expected = decoded(*session);
  const std::vector<std::byte> bytes = session->save();
  // The source, and the model's first token behind it.
  for (const int64_t count : {-1, 0, 6}) {
    expect_refused(*reader, with(bytes, "source", count),
                   "saved: runcible.session.source is " +
                       std::to_string(count) +
                       " of 6 tokens, of a model that reads a source and then "
                       "generates");
  }
  EXPECT_EQ(decoded(*restore(*reader, with(bytes, "source", 5))), expected);
  expect_refused(*reader, with(bytes, "evaluated", 4),
                 "saved: runcible.session.evaluated is 4, but a source of 5 "
                 "tokens is read whole");
  // Tokens that were not evaluated are evaluated again.
  EXPECT_EQ(decoded(*restore(*reader, with(bytes, "evaluated", 0))), expected);

  const auto other = load();
  const auto plain = session_with(*other, some_tokens(5))->save();
  for (const int64_t count : {-1, 1}) {
    expect_refused(*other, with(plain, "source", count),
                   "saved: runcible.session.source is " +
                       std::to_string(count) +
                       " of 5 tokens, of a model that reads no source");
  }
  EXPECT_EQ(restore(*other, with(plain, "source", 0))->tokens(),
            some_tokens(5));
}

}  // namespace
}  // namespace rc::engine::test
