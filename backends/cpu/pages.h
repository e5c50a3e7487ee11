// Where the rows of a run lie in a paged cache.
#pragma once

#include "cpu/compiler.h"

namespace rc::cpu {

// The page table, and the sequence and position of each row.
struct Pages {
  Place positions, sequences, table;
  Place lengths;  // of ATTENTION
  bool whole;     // rows see all positions of their sequence: there are lengths
  int64_t row_pages;  // entries of a sequence's row
  int64_t page_size;
  int64_t pages;  // in the cache

  // Where row r is. A thread that comes late may read what the next run has
  // put there, so each number is read once and then checked.
  struct At {
    int64_t sequence, position;
  };
  At at(const Run& run, int64_t r) const {
    return {peek(run.at<const int32_t>(sequences) + r),
            peek(run.at<const int32_t>(positions) + r)};
  }
  // Whether it has an entry in the table.
  bool has_entry(const Run& run, const At& at) const {
    return at.sequence >= 0 && at.sequence < run.rows(RC_DIM_SEQUENCES) &&
           at.position >= 0 && at.position / page_size < row_pages;
  }
  static void fail_entry(Run& run, int64_t r, const At& at) {
    run.fail(RC_E_INVALID_ARGUMENT,
             "row %lld: position %lld of sequence %lld has no entry in the "
             "page table",
             static_cast<long long>(r), static_cast<long long>(at.position),
             static_cast<long long>(at.sequence));
  }
  // The last position that a row at a place with an entry sees, or -1 where its
  // sequence has a length for which there are no entries.
  int64_t last(const Run& run, const At& at) const {
    if (!whole) return at.position;
    const int64_t length = peek(run.at<const int32_t>(lengths) + at.sequence);
    return length > 0 && (length - 1) / page_size < row_pages ? length - 1 : -1;
  }
  static void fail_length(Run& run, int64_t r, const At& at) {
    run.fail(RC_E_INVALID_ARGUMENT,
             "row %lld: the length of sequence %lld has no entries in the page "
             "table",
             static_cast<long long>(r), static_cast<long long>(at.sequence));
  }
  int64_t page(const Run& run, int64_t sequence, int64_t index) const {
    return peek(run.at<const int32_t>(table) + sequence * row_pages + index);
  }
  bool has_page(int64_t page) const { return page >= 0 && page < pages; }
  void fail_page(Run& run, int64_t page) const {
    run.fail(RC_E_INVALID_ARGUMENT,
             "the page table names page %lld of a cache of %lld pages",
             static_cast<long long>(page), static_cast<long long>(pages));
  }

 private:
  static int64_t peek(const int32_t* number) {
    return __atomic_load_n(number, __ATOMIC_RELAXED);
  }
};

}  // namespace rc::cpu
