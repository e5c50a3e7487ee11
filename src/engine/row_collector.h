// Rows of many texts that an engine pools, at most so many of them at once.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "engine/embedding.h"

namespace rc::engine {

// Belongs to one thread, which adds the texts and waits for their rows.
class RowCollector {
 public:
  // `what` names a text in messages, "text" or "document".
  RowCollector(Engine& engine, std::shared_ptr<Account> account, size_t count,
               size_t columns, const RowOptions& options, const char* what);
  // Cancels what is under way, and waits for its end.
  ~RowCollector();
  RowCollector(const RowCollector&) = delete;
  RowCollector& operator=(const RowCollector&) = delete;

  // Waits while too many are under way. Throws what has failed so far, and
  // RC_E_CANCELLED.
  void add(PoolOptions text);
  // Waits for the rest. [count, columns]: of each row its first columns.
  std::vector<float> take();

 private:
  class Listener;
  // The part that the engine thread uses; it may outlive the collector only
  // until the last row has come.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<float> values;
    size_t columns;
    size_t under_way = 0;
    std::optional<Error> failure;
    bool out_of_memory = false;
  };

  void wait_below(size_t limit);
  void throw_failure();

  Engine& engine_;
  const std::shared_ptr<Account> account_;
  const RowOptions& options_;
  const char* const what_;
  const std::shared_ptr<Shared> shared_;
  std::vector<std::weak_ptr<Request>> requests_;
  size_t next_ = 0;
};

}  // namespace rc::engine
