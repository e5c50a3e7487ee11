#include "api/embedding.h"

#include <cstdio>
#include <utility>

#include "api/guard.h"
#include "base/time_limit.h"
#include "engine/turns.h"

namespace rc::api {

void EmbeddingWork::end(rc_status status, engine::TextRows rows) noexcept {
  slot_.release();
  const std::lock_guard lock(mutex_);
  status_ = status;
  rows_ = std::move(rows);
  std::snprintf(message_, sizeof message_, "%s",
                status == RC_OK ? "" : last_error_message());
  ended_ = true;
  changed_.notify_all();
}

void EmbeddingWork::wait(int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return ended_; };
  if (timeout_ms < 0) {
    engine::wait(changed_, lock, over);
  } else if (!engine::wait_until(changed_, lock, time_after(timeout_ms),
                                 over)) {
    fail(RC_E_TIMEOUT, "the embedding has not ended after ", timeout_ms, " ms");
  }
  throw_failure();
}

const engine::TextRows& EmbeddingWork::rows() {
  const std::lock_guard lock(mutex_);
  if (!ended_) {
    fail(RC_E_BUSY,
         "the embedding has not ended; wait for it with rc_embedding_wait");
  }
  throw_failure();
  return rows_;
}

void EmbeddingWork::throw_failure() const {
  if (status_ != RC_OK) throw Error(status_, message_);
}

}  // namespace rc::api

using rc::api::guard;
using rc::api::need;
using rc::api::need_pointer;

rc_status rc_embedding_cancel(rc_embedding* embedding) {
  return guard([&] { need(embedding, "embedding").work->cancel(); });
}

rc_status rc_embedding_wait(rc_embedding* embedding, int64_t timeout_ms) {
  return guard([&] {
    const auto work = need(embedding, "embedding").work;
    work->wait(timeout_ms);
  });
}

rc_status rc_embedding_rows(rc_embedding* embedding, const float** rows,
                            size_t* count, size_t* columns) {
  return guard([&] {
    need_pointer(rows, "rows");
    need_pointer(count, "count");
    need_pointer(columns, "columns");
    const rc::engine::TextRows& made =
        need(embedding, "embedding").work->rows();
    *rows = made.values.data();
    *count = made.count;
    *columns = made.columns;
  });
}

rc_embedding* rc_embedding_retain(rc_embedding* embedding) {
  return rc::api::retain_handle(embedding, "embedding");
}

void rc_embedding_release(rc_embedding* embedding) {
  rc::api::release_handle(embedding, "embedding");
}
