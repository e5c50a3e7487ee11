// The logits of row after row of a sequence, a bounded number at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace rc::engine {

// For one thread. Every function may throw what steps of the engine throw.
class RowReader {
 public:
  // `context` is the longest sequence, in tokens.
  RowReader(const std::shared_ptr<Engine>& engine,
            std::shared_ptr<Account> account, int64_t context);

  // A new sequence begins with these tokens, of which no logits are wanted.
  void begin(std::span<const TokenId> tokens);
  // Evaluates more tokens of it; gives their logits F32 [rows, vocabulary],
  // valid until the next call.
  std::span<const float> more(std::span<const TokenId> tokens);
  // The logits of the last token of begin(), as more() gives them. There must
  // be one.
  std::span<const float> last();
  // Forgets the tokens from a position on.
  void back_to(int64_t position);

  size_t vocabulary() const { return vocabulary_; }
  // Returns the number of rows of logits for which a sensible amount of memory
  // is used.
  int64_t most_rows() const;

  int64_t rows() const { return rows_; }  // that were evaluated
  double seconds() const { return seconds_; }

 private:
  template <class Work>
  void timed(size_t rows, const Work& work);

  const std::shared_ptr<Session> session_;
  const size_t vocabulary_;
  int64_t rows_ = 0;
  double seconds_ = 0.0;
};

}  // namespace rc::engine
