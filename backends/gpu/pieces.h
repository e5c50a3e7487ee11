// The way of a run through the dispatches of a program, for drivers that launch
// pieces of them: each is cut between blocks of its rows, so that a portion has
// about as much work as it is to have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gpu/dispatch.h"

namespace rc::gpu {

class Pieces {
 public:
  // `count` blocks of rows of dispatch number `dispatch`, from block `begin`
  // on.
  struct Piece {
    size_t dispatch;
    uint64_t begin, count;
    double work;
  };

  // A piece has at most `most` blocks. The dispatches live longer.
  Pieces(std::span<const Dispatch> dispatches, uint64_t most)
      : dispatches_(dispatches), most_(most) {}

  // Goes back to the first dispatch, for a run of that size.
  void begin(const RunSize& size) {
    size_ = size;
    next_ = 0;
    block_ = 0;
  }
  bool is_at_begin() const { return next_ == 0 && block_ == 0; }
  bool is_at_end() const { return next_ == dispatches_.size(); }
  // All are done otherwise.
  void skip_to_end() {
    next_ = dispatches_.size();
    block_ = 0;
  }

  // The work of the whole run.
  double work() const {
    double all = 0;
    for (const Dispatch& dispatch : dispatches_) {
      const uint32_t rows = dispatch.rows.count(size_.rows);
      if (rows != 0) all += dispatch.work.of(dispatch.rows, size_, rows);
    }
    return all;
  }

  // The next piece, of about `work` or of a block; nothing at the end.
  std::optional<Piece> take(double work) {
    while (next_ < dispatches_.size()) {
      const Dispatch& dispatch = dispatches_[next_];
      const uint64_t rows = dispatch.rows.count(size_.rows);
      const uint64_t blocks = (rows + dispatch.batch - 1) / dispatch.batch;
      if (blocks == 0) {
        ++next_;
        continue;
      }
      const double each =
          std::max(dispatch.work.of(dispatch.rows, size_, dispatch.batch), 1.0);
      const auto left = static_cast<double>(std::min(most_, blocks - block_));
      const auto count =
          static_cast<uint64_t>(std::clamp(work / each, 1.0, left));
      const Piece piece = {next_, block_, count,
                           static_cast<double>(count) * each};
      block_ += count;
      if (block_ == blocks) {
        ++next_;
        block_ = 0;
      }
      return piece;
    }
    return std::nullopt;
  }

  // Launches pieces that have about `work` together; returns what they have.
  template <class Launch>
  double launch(double work, const Launch& launch_piece) {
    double taken = 0;
    while (taken == 0 || taken < work) {
      const std::optional<Piece> piece = take(work - taken);
      if (!piece) break;
      launch_piece(*piece);
      taken += piece->work;
    }
    return taken;
  }

 private:
  std::span<const Dispatch> dispatches_;
  uint64_t most_;
  RunSize size_;
  size_t next_ = 0;     // dispatch
  uint64_t block_ = 0;  // of its rows
};

}  // namespace rc::gpu
