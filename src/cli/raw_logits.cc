#include "raw_logits.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cli {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the rows are written as they are in memory");

// Positions at a time: bounds the memory that the logits take.
constexpr size_t kChunk = 64;

// Returns the number of tokens of the session.
size_t size_of(const Session& session) {
  int32_t* tokens = nullptr;
  size_t count = 0;
  check(rc_session_tokens(session.get(), &tokens, &count));
  rc_free(tokens);
  return count;
}

}  // namespace

RawLogits::RawLogits(std::string path)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
  if (file_ == nullptr) fail_writing();
}

void RawLogits::fail_writing() const {
  throw Failure{kFile, path_ + ": cannot be written: " + strerror(errno)};
}

void RawLogits::write_rows(const Session& session) {
  check(rc_session_decode(session.get(), RC_DECODE_ALL_LOGITS));
  const float* logits = nullptr;
  size_t rows = 0, vocabulary = 0;
  check(rc_session_logits(session.get(), &logits, &rows, &vocabulary));
  if (std::fwrite(logits, sizeof(float) * vocabulary, rows, file_.get()) !=
      rows) {
    fail_writing();
  }
}

void RawLogits::write(const Model& model, const std::vector<int32_t>& prompt,
                      const std::vector<int32_t>& answer) {
  const Session session =
      make<Session>(rc_session_create, model.get(), nullptr);
  check(rc_session_append(session.get(), prompt.data(), prompt.size()));
  std::vector<int32_t> tokens = answer;
  // Only models that read a source add a token.
  if (size_of(session) > prompt.size()) {
    write_rows(session);
  } else {
    check(rc_session_truncate(session.get(), 0));
    tokens.insert(tokens.begin(), prompt.begin(), prompt.end());
  }
  for (size_t begin = 0; begin < tokens.size(); begin += kChunk) {
    const size_t count = std::min(kChunk, tokens.size() - begin);
    check(rc_session_append(session.get(), tokens.data() + begin, count));
    write_rows(session);
  }
  if (std::fclose(file_.release()) != 0) fail_writing();
}

}  // namespace cli
