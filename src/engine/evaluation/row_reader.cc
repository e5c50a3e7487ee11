#include "engine/evaluation/row_reader.h"

#include <algorithm>

namespace rc::engine {
namespace {

constexpr int64_t kLogitBytes = int64_t{64} << 20;
constexpr int64_t kMostLogitRows = 256;

SessionOptions with_context(int64_t context) {
  SessionOptions options;
  options.context_length = context;
  return options;
}

}  // namespace

RowReader::RowReader(const std::shared_ptr<Engine>& engine,
                     std::shared_ptr<Account> account, int64_t context)
    : session_(
          engine->create_session(with_context(context), std::move(account))),
      vocabulary_(
          static_cast<size_t>(engine->file().hyper_parameters().vocabulary)) {}

int64_t RowReader::most_rows() const {
  const auto row = static_cast<int64_t>(vocabulary_ * sizeof(float));
  return std::clamp<int64_t>(kLogitBytes / row, 1, kMostLogitRows);
}

template <class Work>
void RowReader::timed(size_t rows, const Work& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  work();
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  rows_ += static_cast<int64_t>(rows);
}

void RowReader::begin(std::span<const TokenId> tokens) {
  session_->truncate(0);
  if (tokens.empty()) return;
  session_->append({tokens.begin(), tokens.end()});
  timed(tokens.size(), [&] { session_->decode(false); });
}

std::span<const float> RowReader::more(std::span<const TokenId> tokens) {
  session_->append({tokens.begin(), tokens.end()});
  timed(tokens.size(), [&] { session_->decode(true); });
  return last();
}

std::span<const float> RowReader::last() {
  const Session::Logits logits = session_->logits();
  return {logits.data, logits.rows * logits.vocabulary};
}

void RowReader::back_to(int64_t position) { session_->truncate(position); }

}  // namespace rc::engine
