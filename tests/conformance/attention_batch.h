// Rows of several sequences over the pages of a cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rc::test {

// One batch: `rows` positions of each of several sequences, its last ones.
struct Part {
  int32_t length;  // positions in the cache
  int32_t rows;
  int32_t behind = 0;  // more positions, behind the rows
};

// The rows of a batch, and where the positions that they see lie.
struct Batch {
  int64_t per_sequence = 0;  // entries of the page table
  int64_t pages = 1;
  std::vector<int32_t> table, positions, sequences, lengths;

  Batch(const std::vector<Part>& parts, int64_t page_size) {
    for (const Part& part : parts) {
      lengths.push_back(part.length + part.behind);
      const int64_t needed = (lengths.back() + page_size - 1) / page_size;
      per_sequence = std::max(per_sequence, needed);
      pages += needed;
    }
    table.resize(parts.size() * per_sequence);
    // Pages are handed out backwards, so that no order is taken for granted.
    auto next_page = static_cast<int32_t>(pages - 1);
    for (size_t s = 0; s < parts.size(); ++s) {
      for (int64_t i = 0; i * page_size < lengths[s]; ++i) {
        table[s * per_sequence + i] = next_page--;
      }
      for (int32_t r = parts[s].length - parts[s].rows; r < parts[s].length;
           ++r) {
        positions.push_back(r);
        sequences.push_back(static_cast<int32_t>(s));
      }
    }
  }
};

}  // namespace rc::test
