#include "model/forward_inputs.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "model/batch_check.h"

namespace rc::model {
namespace {

// Functions of the rows of the table.
namespace inputs {

using Values = std::vector<int32_t>;

int64_t per_row(const ProgramSetup&) { return RC_DIM_ROWS; }
int64_t per_sequence(const ProgramSetup&) { return RC_DIM_SEQUENCES; }
int64_t per_output(const ProgramSetup&) { return RC_DIM_OUTPUTS; }
template <int64_t Size>
int64_t fixed(const ProgramSetup&) {
  return Size;
}
int64_t width(const ProgramSetup& of) {
  return of.file.hyper_parameters().width;
}
int64_t table_width(const ProgramSetup& of) {
  return of.layout.pages_per_sequence;
}
int64_t heads(const ProgramSetup& of) {
  return of.file.hyper_parameters().latent.heads;
}
int64_t window_heads(const ProgramSetup& of) {
  return of.file.hyper_parameters().window_latent.heads;
}

ForwardStages if_so(bool present) { return present ? kGenerating : kNeverUsed; }
ForwardStages reading(const ProgramSetup& of) {
  return of.file.source() != nullptr ? kReadingSource : kNeverUsed;
}
ForwardStages generating(const ProgramSetup&) { return kGenerating; }
ForwardStages taking_embeddings(const ProgramSetup& of) {
  return if_so(of.takes_embeddings);
}
ForwardStages always(const ProgramSetup& of) {
  return kGenerating | reading(of);
}

int64_t vocabulary(const GivenBatch& given) {
  return given.file.hyper_parameters().vocabulary;
}
int64_t room(const GivenBatch& given) {
  return given.cache.pages_per_sequence * given.cache.page_size;
}
int64_t positions(const GivenBatch& given) {
  return std::min(room(given), given.file.position_limit());
}
int64_t sequences(const GivenBatch& given) {
  return given.batch.sequence_count;
}
int64_t rows(const GivenBatch& given) {
  return static_cast<int64_t>(given.batch.tokens.size());
}
int64_t pages(const GivenBatch& given) { return given.cache.pages; }
int64_t window_pages(const GivenBatch& given) {
  return given.cache.window_pages;
}
int64_t slots(const GivenBatch& given) { return given.cache.slots; }
int64_t two(const GivenBatch&) { return 2; }

void add_tokens(const SequenceRows& rows, const RowsPlace&, Values& values) {
  for (const int32_t token : rows.tokens) values.push_back(std::max(token, 0));
}
void add_positions(const SequenceRows& rows, const RowsPlace&, Values& values) {
  auto position = static_cast<int32_t>(rows.first_position);
  for (size_t i = 0; i < rows.tokens.size(); ++i) values.push_back(position++);
}
void add_sequences(const SequenceRows& rows, const RowsPlace& place,
                   Values& values) {
  values.insert(values.end(), rows.tokens.size(), place.sequence);
}
void add_output_rows(const SequenceRows& rows, const RowsPlace& place,
                     Values& values) {
  for (size_t i = rows.outputs_begin; i < rows.outputs_end; ++i) {
    values.push_back(place.first_row + static_cast<int32_t>(i));
  }
}
// Appends one row of a page table.
void add_table(std::span<const int32_t> pages, const RowsPlace& place,
               Values& values) {
  const size_t end = values.size() + place.width;
  values.insert(values.end(), pages.begin(), pages.end());
  values.resize(end, 0);
}
void add_pages(const SequenceRows& rows, const RowsPlace& place,
               Values& values) {
  add_table(rows.pages, place, values);
}
void add_source_pages(const SequenceRows& rows, const RowsPlace& place,
                      Values& values) {
  add_table(rows.source_pages, place, values);
}
void add_window_pages(const SequenceRows& rows, const RowsPlace& place,
                      Values& values) {
  const size_t begin = values.size();
  add_table(rows.window_pages, place, values);
  for (size_t i = begin; i < values.size(); ++i) {
    values[i] = std::max(values[i], 0);
  }
}
void add_source_length(const SequenceRows& rows, const RowsPlace&,
                       Values& values) {
  values.push_back(static_cast<int32_t>(rows.source_length));
}
void add_slots(const SequenceRows& rows, const RowsPlace&, Values& values) {
  values.push_back(rows.slot_before);
  values.push_back(rows.slot_after);
}
void add_longer(const SequenceRows& rows, const RowsPlace&, Values& values) {
  values.insert(values.end(), rows.tokens.size(), rows.longer ? 1 : 0);
}
void add_types(const SequenceRows& rows, const RowsPlace&, Values& values) {
  for (size_t i = 0; i < rows.tokens.size(); ++i) {
    values.push_back(i >= rows.second_text ? 1 : 0);
  }
}

// Makes 0 to heads - 1 for each row, which are the same in all batches.
void make_numbers(const GivenBatch& given, int64_t heads,
                  std::vector<int32_t>& values) {
  const auto count = static_cast<size_t>(heads);
  const size_t size = given.batch.tokens.size() * count;
  for (size_t i = values.size(); i < size; ++i) {
    values.push_back(static_cast<int32_t>(i % count));
  }
}

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
}  // namespace

constexpr InputDescription kForwardInputs[] = {
    {ForwardInput::kTokens,
     "tokens",
     RC_DTYPE_I32,
     {inputs::per_row},
     inputs::always,
     {&BatchValues::tokens, "tokens", "token", InputCheck::kEach,
      inputs::vocabulary, inputs::add_tokens}},
    {ForwardInput::kPositions,
     "positions",
     RC_DTYPE_I32,
     {inputs::per_row},
     inputs::always,
     {&BatchValues::positions, "positions", "position", InputCheck::kEach,
      inputs::positions, inputs::add_positions}},
    {ForwardInput::kSequences,
     "sequences",
     RC_DTYPE_I32,
     {inputs::per_row},
     inputs::always,
     {&BatchValues::sequences, "sequences", "sequence", InputCheck::kEach,
      inputs::sequences, inputs::add_sequences}},
    {ForwardInput::kPageTable,
     "page table",
     RC_DTYPE_I32,
     {inputs::per_sequence, inputs::table_width},
     inputs::generating,
     {&BatchValues::page_table, "page table entries", "page",
      InputCheck::kUsedPages, inputs::pages, inputs::add_pages}},
    {ForwardInput::kOutputRows,
     "output rows",
     RC_DTYPE_I32,
     {inputs::per_output},
     inputs::generating,
     {&BatchValues::output_rows, "output rows", "output row", InputCheck::kEach,
      inputs::rows, inputs::add_output_rows}},
    {ForwardInput::kStateSlots,
     "state slots",
     RC_DTYPE_I32,
     {inputs::per_sequence, inputs::fixed<2>},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.slot_bytes() > 0);
     },
     {&BatchValues::state_slots, "state slots", "state slot",
      InputCheck::kSlots, inputs::slots, inputs::add_slots}},
    {ForwardInput::kLengths,
     "lengths",
     RC_DTYPE_I32,
     {inputs::per_sequence},
     [](const ProgramSetup& of) {
       return inputs::if_so(!of.file.causal()) | inputs::reading(of);
     },
     {},
     inputs::make_lengths},
    {ForwardInput::kSourceLengths,
     "source lengths",
     RC_DTYPE_I32,
     {inputs::per_sequence},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.source() != nullptr);
     },
     {&BatchValues::source_lengths, "source lengths", "source length",
      InputCheck::kSourceLengths, inputs::room, inputs::add_source_length}},
    {ForwardInput::kSourceTable,
     "source page table",
     RC_DTYPE_I32,
     {inputs::per_sequence, inputs::table_width},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.source() != nullptr) | inputs::reading(of);
     },
     {&BatchValues::source_table, "source page table entries", "source page",
      InputCheck::kSourcePages, inputs::pages, inputs::add_source_pages}},
    {ForwardInput::kWindowTable,
     "window page table",
     RC_DTYPE_I32,
     {inputs::per_sequence, inputs::table_width},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.layout.window_pages > 0);
     },
     {&BatchValues::window_table, "window page table entries", "window page",
      InputCheck::kUsedPages, inputs::window_pages, inputs::add_window_pages}},
    {ForwardInput::kHeadNumbers,
     "head numbers",
     RC_DTYPE_I32,
     {inputs::per_row, inputs::heads},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.hyper_parameters().latent.rank > 0);
     },
     {},
     inputs::make_head_numbers},
    {ForwardInput::kWindowHeadNumbers,
     "head numbers of layers with a window",
     RC_DTYPE_I32,
     {inputs::per_row, inputs::window_heads},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.hyper_parameters().window_latent.rank > 0);
     },
     {},
     inputs::make_window_head_numbers},
    {ForwardInput::kLonger,
     "longer",
     RC_DTYPE_I32,
     {inputs::per_row},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.short_context(of.layout) > 0);
     },
     {&BatchValues::longer, "longer", "longer", InputCheck::kEach, inputs::two,
      inputs::add_longer}},
    {ForwardInput::kPositionSteps,
     "position steps",
     RC_DTYPE_I32,
     {inputs::per_row},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.position_step() > 0);
     },
     {},
     inputs::make_position_steps},
    {ForwardInput::kTypedPositions,
     "typed positions",
     RC_DTYPE_I32,
     {inputs::per_row},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.types_tokens());
     },
     {&BatchValues::types, "types", "type", InputCheck::kEach, inputs::two,
      inputs::add_types},
     inputs::make_typed_positions},
    {ForwardInput::kLayerRows,
     "layer rows",
     RC_DTYPE_I32,
     {inputs::per_row},
     [](const ProgramSetup& of) {
       return inputs::if_so(of.file.hyper_parameters().per_layer.size > 0);
     },
     {},
     inputs::make_layer_rows,
     true},
    {ForwardInput::kEmbeddingRows,
     "embedding rows",
     RC_DTYPE_F32,
     {inputs::per_row, inputs::fixed<1>, inputs::width},
     inputs::taking_embeddings,
     {&BatchValues::embedding_rows, "numbers of embedding rows", "number",
      InputCheck::kNumbers, nullptr, inputs::add_embedding_rows}},
    {ForwardInput::kRowChoice,
     "row choice",
     RC_DTYPE_F32,
     {inputs::per_row, inputs::fixed<2>},
     inputs::taking_embeddings,
     {&BatchValues::row_choice, "numbers of the choice of rows", "choice",
      InputCheck::kNumbers, nullptr, inputs::add_row_choice}},
};

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

}  // namespace
}  // namespace rc::model
