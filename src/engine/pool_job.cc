#include "engine/pool_job.h"

#include <algorithm>
#include <utility>

#include "engine/core.h"

namespace rc::engine {

PoolJob::PoolJob(const Engine& engine, std::shared_ptr<SessionState> session,
                 const PoolOptions& options,
                 std::shared_ptr<PoolListener> listener)
    : Job(std::move(session)),
      pooling_(options.pooling),
      whole_(!engine.file().causal()),
      priority_(options.priority),
      listener_(std::move(listener)) {
  deadline_ = options.deadline;
}

std::optional<End> PoolJob::begin(Core& core) {
  prompt_tokens = session().size();
  // A prefix is of use only where its rows are not asked for.
  wants_prefix = pooling_ == Pooling::kLast;
  if (pooling_ == Pooling::kMean) sum_.resize(core.row_size());
  row_.resize(core.row_size());
  return std::nullopt;
}

std::optional<End> PoolJob::take(Core& /*core*/, const RowLogits& rows) {
  const size_t width = row_.size();
  const int64_t size = session().size();
  // Rows before the next are those of pages that were lost meanwhile.
  for (int64_t i = 0; i < rows.count; ++i) {
    if (rows.begin + i != next_ && pooling_ != Pooling::kLast) continue;
    const auto row = rows.values.subspan(static_cast<size_t>(i) * width, width);
    if (pooling_ == Pooling::kMean) {
      for (size_t j = 0; j < width; ++j) {
        sum_[j] += static_cast<double>(row[j]);
      }
    } else if (pooling_ == Pooling::kLast || next_ == 0) {
      std::copy(row.begin(), row.end(), row_.begin());
    }
    ++next_;
  }
  if (!wants_first_row() && pooling_ != Pooling::kLast && next_ < size) {
    return std::nullopt;
  }
  if (pooling_ == Pooling::kMean) {
    for (size_t j = 0; j < width; ++j) {
      row_[j] = static_cast<float>(sum_[j] / static_cast<double>(size));
    }
  }
  return End{RC_END_STOP, RC_OK};
}

void PoolJob::ended(const End& end, const char* message) noexcept {
  const auto listener = std::exchange(listener_, nullptr);
  if (end.status == RC_OK) {
    listener->pooled(row_, RC_OK, "");
  } else {
    listener->pooled({}, end.status, message);
  }
}

}  // namespace rc::engine
