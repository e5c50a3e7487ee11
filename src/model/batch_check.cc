#include "model/batch_check.h"

#include <algorithm>

#include "base/error.h"

namespace rc::model {
namespace {

void check_element(const char* name, size_t row, int64_t value, int64_t count) {
  if (value < 0 || value >= count) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", name, " ", value, " of row ", row,
         " is not within 0 to ", count - 1);
  }
}

void check_count(const char* name, size_t count, int64_t expected) {
  if (count != static_cast<uint64_t>(expected)) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", count, " ", name, " instead of ",
         expected);
  }
}

// A page table, of which each sequence uses the first `used` entries.
void check_table(const char* name, std::span<const int32_t> table,
                 std::span<const int64_t> used, const CacheLayout& cache,
                 int64_t pages) {
  const auto width = static_cast<size_t>(cache.pages_per_sequence);
  if (table.size() != used.size() * width) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", table.size(), " ", name,
         " table entries instead of ", used.size() * width);
  }
  for (size_t sequence = 0; sequence < used.size(); ++sequence) {
    const auto row = table.subspan(sequence * width);
    for (int64_t i = 0; i < used[sequence]; ++i) {
      check_element(name, sequence, row[static_cast<size_t>(i)], pages);
    }
  }
}

void check_sources(const Batch& batch, const CacheLayout& cache) {
  check_count("source lengths", batch.source_lengths.size(),
              batch.sequence_count);
  std::vector<int64_t> used_pages;
  for (size_t i = 0; i < batch.source_lengths.size(); ++i) {
    const int32_t length = batch.source_lengths[i];
    if (length < 1 || length > cache.pages_per_sequence * cache.page_size) {
      fail(RC_E_INVALID_ARGUMENT, "batch: the source of sequence ", i, " has ",
           length, " positions, but 1 to ",
           cache.pages_per_sequence * cache.page_size, " are possible");
    }
    used_pages.push_back((length - 1) / cache.page_size + 1);
  }
  check_table("source page", batch.source_table, used_pages, cache,
              cache.pages);
}

}  // namespace

void check_batch(const Batch& batch, const ModelFile& file,
                 const ResidentOptions& options, bool of_sources) {
  const int64_t vocabulary = file.hyper_parameters().vocabulary;
  const auto rows = static_cast<int64_t>(batch.tokens.size());
  const runtime::ProgramLimits& limits = options.limits;
  const CacheLayout& cache = options.cache;
  if (rows < 1 || rows > limits.max_rows ||
      batch.output_rows.size() > static_cast<uint64_t>(limits.max_outputs) ||
      batch.sequence_count < 1 || batch.sequence_count > limits.max_sequences) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", rows, " rows, ",
         batch.output_rows.size(), " outputs, ", batch.sequence_count,
         " sequences, but the model takes at most ", limits.max_rows, ", ",
         limits.max_outputs, ", ", limits.max_sequences);
  }
  check_count("positions", batch.positions.size(), rows);
  check_count("sequences", batch.sequences.size(), rows);
  std::vector<int64_t> used_pages(static_cast<size_t>(batch.sequence_count));
  for (size_t row = 0; row < batch.tokens.size(); ++row) {
    check_element("token", row, batch.tokens[row], vocabulary);
    check_element("sequence", row, batch.sequences[row], batch.sequence_count);
    check_element("position", row, batch.positions[row],
                  std::min(cache.pages_per_sequence * cache.page_size,
                           file.position_limit()));
    int64_t& used = used_pages[static_cast<size_t>(batch.sequences[row])];
    used = std::max(used, batch.positions[row] / cache.page_size + 1);
  }
  if (file.short_context(cache) > 0) {
    check_count("longer", batch.longer.size(), rows);
    for (size_t row = 0; row < batch.longer.size(); ++row) {
      check_element("longer", row, batch.longer[row], 2);
    }
  }
  if (file.types_tokens()) {
    check_count("types", batch.types.size(), rows);
    for (size_t row = 0; row < batch.types.size(); ++row) {
      check_element("type", row, batch.types[row], 2);
    }
  }
  if (of_sources) {
    check_table("source page", batch.source_table, used_pages, cache,
                cache.pages);
    return;
  }
  check_table("page", batch.page_table, used_pages, cache, cache.pages);
  if (file.source() != nullptr) check_sources(batch, cache);
  if (cache.window_pages > 0) {
    check_table("window page", batch.window_table, used_pages, cache,
                cache.window_pages);
  }
  for (size_t i = 0; i < batch.output_rows.size(); ++i) {
    check_element("output row", i, batch.output_rows[i], rows);
  }
}

void check_slots(const Batch& batch, int64_t slots) {
  check_count("state slots", batch.state_slots.size(),
              2 * batch.sequence_count);
  std::vector<bool> written(static_cast<size_t>(slots));
  for (size_t i = 1; i < batch.state_slots.size(); i += 2) {
    const int32_t slot = batch.state_slots[i];
    check_element("state slot", i / 2, slot, slots);
    if (written[static_cast<size_t>(slot)]) {
      fail(RC_E_INVALID_ARGUMENT, "batch: two sequences write slot ", slot);
    }
    written[static_cast<size_t>(slot)] = true;
  }
  for (size_t i = 0; i < batch.state_slots.size(); i += 2) {
    const int32_t slot = batch.state_slots[i];
    if (slot == -1) continue;
    check_element("state slot", i / 2, slot, slots);
    if (written[static_cast<size_t>(slot)] &&
        slot != batch.state_slots[i + 1]) {
      fail(RC_E_INVALID_ARGUMENT, "batch: sequence ", i / 2, " reads slot ",
           slot, ", which another writes");
    }
  }
}

std::vector<int32_t> whole_lengths(const Batch& batch) {
  std::vector<int32_t> lengths(static_cast<size_t>(batch.sequence_count));
  for (size_t row = 0; row < batch.positions.size(); ++row) {
    const int32_t sequence = batch.sequences[row];
    int32_t& length = lengths[static_cast<size_t>(sequence)];
    if (batch.positions[row] != length) {
      fail(RC_E_INVALID_ARGUMENT, "batch: row ", row, " of sequence ", sequence,
           " has position ", batch.positions[row], " instead of ", length,
           "; rows that see all of their sequence need it whole, in order, "
           "from position 0 on");
    }
    ++length;
  }
  return lengths;
}

}  // namespace rc::model
