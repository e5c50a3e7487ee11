// A job that makes one row of the rows that the model gives for a text: their
// mean, the first or the last.
//
// Made and cancelled on any thread, everything else on the engine thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/job.h"

namespace rc::engine {

class PoolJob final : public Job, public Request {
 public:
  // The session has the tokens, and no handle.
  PoolJob(const Engine& engine, std::shared_ptr<SessionState> session,
          const PoolOptions& options, std::shared_ptr<PoolListener> listener);

  void cancel() noexcept override { cancel_job(); }

  std::optional<End> begin(Core& core) override;
  // Sums in the order of the rows, however they come, so that a row does not
  // depend on how its text was cut into steps.
  std::optional<End> take(Core& core, const RowLogits& rows) override;
  void ended(const End& end, const char* message) noexcept override;
  int64_t outputs() const override {
    return pooling_ == Pooling::kLast || wants_first_row() ? 1 : kEveryRow;
  }
  // A text that comes in several steps is summed up until its end is there.
  bool wants_first_row() const override {
    return pooling_ == Pooling::kFirst && whole_;
  }
  int32_t priority() const override { return priority_; }

 private:
  const Pooling pooling_;
  const bool whole_;  // a step has all rows of the text
  const int32_t priority_;
  std::shared_ptr<PoolListener> listener_;
  int64_t next_ = 0;  // the position of the next row of a mean
  std::vector<double> sum_;
  std::vector<float> row_;
};

}  // namespace rc::engine
