#include "model/batch_check.h"

#include <algorithm>
#include <span>

#include "base/error.h"

namespace rc::model {
namespace {

void check_element(const char* name, size_t row, int64_t value, int64_t count) {
  if (value < 0 || value >= count) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", name, " ", value, " of row ", row,
         " is not within 0 to ", count - 1);
  }
}

// Values that are stated for one input, and their rule.
struct Stated {
  const StatedValues& rule;
  std::span<const int32_t> values;
  int64_t limit;
  size_t width;
};

void check_each(const Stated& stated) {
  for (size_t i = 0; i < stated.values.size(); ++i) {
    check_element(stated.rule.entry, i / stated.width, stated.values[i],
                  stated.limit);
  }
}

// Checks the first `used` entries of each sequence in a page table.
void check_table(const Stated& stated, std::span<const int64_t> used) {
  for (size_t sequence = 0; sequence < used.size(); ++sequence) {
    const auto row =
        stated.values.subspan(sequence * stated.width, stated.width);
    for (int64_t i = 0; i < used[sequence]; ++i) {
      check_element(stated.rule.entry, sequence, row[static_cast<size_t>(i)],
                    stated.limit);
    }
  }
}

void check_source_lengths(const Stated& stated) {
  for (size_t i = 0; i < stated.values.size(); ++i) {
    const int32_t length = stated.values[i];
    if (length >= 1 && length <= stated.limit) continue;
    fail(RC_E_INVALID_ARGUMENT, "batch: the source of sequence ", i, " has ",
         length, " positions, but 1 to ", stated.limit, " are possible");
  }
}

// Checks slots that are read and written: no sequence may write a slot that
// another reads or writes.
void check_slots(const Stated& stated) {
  std::vector<bool> written(static_cast<size_t>(stated.limit));
  for (size_t i = 1; i < stated.values.size(); i += 2) {
    const int32_t slot = stated.values[i];
    check_element(stated.rule.entry, i / 2, slot, stated.limit);
    if (written[static_cast<size_t>(slot)]) {
      fail(RC_E_INVALID_ARGUMENT, "batch: two sequences write slot ", slot);
    }
    written[static_cast<size_t>(slot)] = true;
  }
  for (size_t i = 0; i < stated.values.size(); i += 2) {
    const int32_t slot = stated.values[i];
    if (slot == -1) continue;
    check_element(stated.rule.entry, i / 2, slot, stated.limit);
    if (written[static_cast<size_t>(slot)] && slot != stated.values[i + 1]) {
      fail(RC_E_INVALID_ARGUMENT, "batch: sequence ", i / 2, " reads slot ",
           slot, ", which another writes");
    }
  }
}

// Returns how many pages the positions of each sequence need.
std::vector<int64_t> used_pages(const GivenBatch& given) {
  const Batch& batch = given.batch;
  std::vector<int64_t> used(static_cast<size_t>(batch.sequence_count));
  for (size_t row = 0; row < batch.positions.size(); ++row) {
    int64_t& pages = used[static_cast<size_t>(batch.sequences[row])];
    pages = std::max(pages, batch.positions[row] / given.cache.page_size + 1);
  }
  return used;
}

// Returns how many pages the source of each sequence needs. While sources are
// read, their positions are those of the rows.
std::vector<int64_t> source_pages(const GivenBatch& given, ForwardStage stage) {
  if (stage == kReadSource) return used_pages(given);
  std::vector<int64_t> used;
  for (const int32_t length : given.batch.source_lengths) {
    used.push_back((length - 1) / given.cache.page_size + 1);
  }
  return used;
}

void check_size(const GivenBatch& given, const runtime::ProgramLimits& limits) {
  const Batch& batch = given.batch;
  const auto rows = static_cast<int64_t>(batch.tokens.size());
  if (rows < 1 || rows > limits.max_rows ||
      batch.output_rows.size() > static_cast<uint64_t>(limits.max_outputs) ||
      batch.sequence_count < 1 || batch.sequence_count > limits.max_sequences) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", rows, " rows, ",
         batch.output_rows.size(), " outputs, ", batch.sequence_count,
         " sequences, but the model takes at most ", limits.max_rows, ", ",
         limits.max_outputs, ", ", limits.max_sequences);
  }
}

}  // namespace

void check_batch(const GivenBatch& given, const ProgramInputs& inputs,
                 ForwardStage stage, const runtime::ProgramLimits& limits) {
  check_size(given, limits);
  const Batch& batch = given.batch;
  const Rows rows = {static_cast<int64_t>(batch.tokens.size()),
                     static_cast<int64_t>(batch.output_rows.size()),
                     batch.sequence_count};
  std::vector<int64_t> used;  // empty until a table needs it
  for (const ProgramInput& input : inputs.list()) {
    const StatedValues& rule = input.description->stated;
    if (rule.field == nullptr || !input.used_in(stage)) continue;
    const std::vector<int32_t>& values = batch.*rule.field;
    const size_t expected = input.elements(rows) / input.copies;
    if (values.size() != expected) {
      fail(RC_E_INVALID_ARGUMENT, "batch: ", values.size(), " ", rule.entries,
           " instead of ", expected);
    }
    const int64_t limit = rule.limit != nullptr ? rule.limit(given) : 0;
    const Stated stated = {rule, values, limit, input.width()};
    switch (rule.check) {
      case InputCheck::kEach:
        check_each(stated);
        break;
      case InputCheck::kUsedPages:
        if (used.empty()) used = used_pages(given);
        check_table(stated, used);
        break;
      case InputCheck::kSourcePages:
        check_table(stated, source_pages(given, stage));
        break;
      case InputCheck::kSourceLengths:
        check_source_lengths(stated);
        break;
      case InputCheck::kSlots:
        check_slots(stated);
        break;
      case InputCheck::kNumbers:
        break;
    }
  }
}

void count_whole_lengths(const Batch& batch, std::vector<int32_t>& lengths) {
  lengths.assign(static_cast<size_t>(batch.sequence_count), 0);
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
}

}  // namespace rc::model
