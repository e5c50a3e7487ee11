#include "engine/evaluation/row_team.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "base/compute_thread.h"

namespace rc::engine {
namespace {

// With fewer elements a thread takes longer to start than to look at them.
constexpr size_t kLeastElements = size_t{1} << 18;
constexpr size_t kMostThreads = 16;

}  // namespace

void for_each_row(size_t rows, size_t elements_per_row, int threads,
                  const std::function<void(size_t)>& work) {
  const size_t worthwhile = rows * elements_per_row / kLeastElements + 1;
  const size_t count =
      std::min({worthwhile, std::max<size_t>(rows, 1), kMostThreads,
                static_cast<size_t>(std::max(threads, 1))});
  std::vector<std::exception_ptr> failures(count);
  const auto part = [&](size_t number) {
    try {
      for (size_t row = rows * number / count;
           row < rows * (number + 1) / count; ++row) {
        work(row);
      }
    } catch (...) {
      failures[number] = std::current_exception();
    }
  };
  std::vector<std::thread> team;
  team.reserve(count);
  size_t begun = 0;
  try {
    for (; begun + 1 < count; ++begun) {
      team.emplace_back([&part, begun] {
        become_compute_thread();
        part(begun);
      });
    }
  } catch (const std::exception&) {
    // The caller does the parts for which the system refuses a thread.
  }
  for (; begun < count; ++begun) part(begun);
  for (std::thread& thread : team) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace rc::engine
