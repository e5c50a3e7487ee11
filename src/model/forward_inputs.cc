#include "model/forward_inputs.h"

#include <bit>
#include <cstring>

#include "model/batch_check.h"

namespace rc::model {
namespace {

constexpr bool are_in_order() {
  for (size_t i = 0; i < kForwardInputCount; ++i) {
    if (kForwardInputs[i].input != static_cast<ForwardInput>(i)) return false;
  }
  return kForwardInputCount == static_cast<size_t>(ForwardInput::kEnd);
}
static_assert(are_in_order(),
              "kForwardInputs has one row for each ForwardInput, in order");

// Number of fields that have a row; 0 if one has two rows.
constexpr size_t stated_fields() {
  size_t count = 0;
  for (size_t i = 0; i < kForwardInputCount; ++i) {
    const auto field = kForwardInputs[i].stated.field;
    if (field == nullptr) continue;
    ++count;
    for (size_t j = 0; j < i; ++j) {
      if (kForwardInputs[j].stated.field == field) return 0;
    }
  }
  return count;
}
static_assert(sizeof(BatchValues) ==
                  stated_fields() * sizeof(std::vector<int32_t>),
              "each field of BatchValues belongs to one row of kForwardInputs");

constexpr bool have_values() {
  for (const InputDescription& input : kForwardInputs) {
    const StatedValues& stated = input.stated;
    const bool has_limit = stated.limit != nullptr;
    const bool complete = has_limit != (stated.check == InputCheck::kNumbers) &&
                          stated.add != nullptr;
    if (stated.field == nullptr ? input.make == nullptr : !complete) {
      return false;
    }
    if (input.of_each_layer && input.make == nullptr) return false;
  }
  return true;
}
static_assert(
    have_values(),
    "the step states the values of an input, or the model makes them");

// The check of a batch goes by the order of the rows.
static_assert(ForwardInput::kPositions < ForwardInput::kPageTable &&
                  ForwardInput::kSequences < ForwardInput::kPageTable &&
                  ForwardInput::kSourceLengths < ForwardInput::kSourceTable,
              "page tables are checked with positions and lengths before them");

constexpr bool have_four_bytes() {
  for (const InputDescription& input : kForwardInputs) {
    if (input.dtype != RC_DTYPE_I32 && input.dtype != RC_DTYPE_F32) {
      return false;
    }
  }
  return true;
}
static_assert(have_four_bytes(), "values are stored in elements of four bytes");

// Makes 0 to heads - 1 for each row, which are the same in all batches.
void make_numbers(const GivenBatch& given, int64_t heads,
                  std::vector<int32_t>& values) {
  const auto count = static_cast<size_t>(heads);
  const size_t size = given.batch.tokens.size() * count;
  for (size_t i = values.size(); i < size; ++i) {
    values.push_back(static_cast<int32_t>(i % count));
  }
}

}  // namespace

namespace inputs {

void add_embedding_rows(const SequenceRows& rows, const RowsPlace& place,
                        Values& values) {
  const size_t begin = values.size();
  values.resize(begin + rows.tokens.size() * place.width, 0);
  const int64_t end =
      rows.first_item + static_cast<int64_t>(rows.tokens.size());
  for (const EmbeddingRun& run : rows.embeddings) {
    const int64_t from = std::max(run.begin, rows.first_item);
    const int64_t to = std::min(run.end(), end);
    if (from >= to) continue;
    const auto row = static_cast<size_t>(from - rows.first_item);
    std::memcpy(values.data() + begin + row * place.width,
                run.rows->row(run.number(from)).data(),
                static_cast<size_t>(to - from) * place.width * sizeof(float));
  }
}

void add_row_choice(const SequenceRows& rows, const RowsPlace&,
                    Values& values) {
  constexpr auto kChosen = std::bit_cast<int32_t>(1.0f);
  for (const int32_t token : rows.tokens) {
    values.push_back(token < 0 ? 0 : kChosen);
    values.push_back(token < 0 ? kChosen : 0);
  }
}

void make_lengths(const GivenBatch& given, Values& values) {
  count_whole_lengths(given.batch, values);
}

void make_head_numbers(const GivenBatch& given, Values& values) {
  make_numbers(given, given.file.hyper_parameters().latent.heads, values);
}

void make_window_head_numbers(const GivenBatch& given, Values& values) {
  make_numbers(given, given.file.hyper_parameters().window_latent.heads,
               values);
}

void make_position_steps(const GivenBatch& given, Values& values) {
  const int64_t step = given.file.position_step();
  values.clear();
  for (const int32_t position : given.batch.positions) {
    values.push_back(static_cast<int32_t>(position / step));
  }
}

// Makes rows of a table that has the positions of one type behind those of
// another.
void make_typed_positions(const GivenBatch& given, Values& values) {
  const auto positions =
      static_cast<int32_t>(given.file.hyper_parameters().context_length);
  values.clear();
  for (size_t row = 0; row < given.batch.positions.size(); ++row) {
    values.push_back(given.batch.positions[row] +
                     given.batch.types[row] * positions);
  }
}

// Makes [layers, rows] of a table that has for each token the rows of all
// layers, one after the other. Tokens beyond the table have those of the first.
void make_layer_rows(const GivenBatch& given, Values& values) {
  const HyperParameters& hyper = given.file.hyper_parameters();
  const auto layers = static_cast<int32_t>(hyper.layer_count());
  values.clear();
  for (int32_t layer = 0; layer < layers; ++layer) {
    for (const int32_t token : given.batch.tokens) {
      const bool there = token < hyper.per_layer.vocabulary;
      values.push_back((there ? token : 0) * layers + layer);
    }
  }
}

}  // namespace inputs
}  // namespace rc::model
