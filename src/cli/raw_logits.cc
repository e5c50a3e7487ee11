#include "raw_logits.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace cli {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the rows are written as they are in memory");

// Positions at a time: bounds the memory that the logits take.
constexpr size_t kChunk = 64;

[[noreturn]] void fail_writing(const std::string& path) {
  throw Failure{kFile, path + ": cannot be written: " + strerror(errno)};
}

}  // namespace

void write_raw_logits(const Model& model, const std::vector<int32_t>& tokens,
                      const std::string& path) {
  const auto close = [](FILE* file) { std::fclose(file); };
  std::unique_ptr<FILE, decltype(close)> file(std::fopen(path.c_str(), "wb"),
                                              close);
  if (file == nullptr) fail_writing(path);
  const Session session =
      make<Session>(rc_session_create, model.get(), nullptr);
  for (size_t begin = 0; begin < tokens.size(); begin += kChunk) {
    const size_t count = std::min(kChunk, tokens.size() - begin);
    check(rc_session_append(session.get(), tokens.data() + begin, count));
    check(rc_session_decode(session.get(), RC_DECODE_ALL_LOGITS));
    const float* logits = nullptr;
    size_t rows = 0, vocabulary = 0;
    check(rc_session_logits(session.get(), &logits, &rows, &vocabulary));
    if (std::fwrite(logits, sizeof(float) * vocabulary, rows, file.get()) !=
        rows) {
      fail_writing(path);
    }
  }
  if (std::fclose(file.release()) != 0) fail_writing(path);
}

}  // namespace cli
