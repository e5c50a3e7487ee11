// Looking at many rows of logits at once.
#pragma once

#include <cstddef>
#include <functional>

namespace rc::engine {

// Calls work(row) once for each row, on up to `threads` threads, the caller's
// one of them; on that alone where there is little to do. Throws what the first
// rows threw, after all have ended.
void for_each_row(size_t rows, size_t elements_per_row, int threads,
                  const std::function<void(size_t)>& work);

}  // namespace rc::engine
