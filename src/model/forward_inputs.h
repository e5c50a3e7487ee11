// The inputs of a forward pass: one table has the name, the element type and
// the shape of each, when a program has it, and how its values are found.
//
// A new input is an entry of ForwardInput and a row of kForwardInputs. If a
// step states its values, a field of BatchValues holds them, and SequenceRows
// may need a field that they come from. Descriptions of programs, checks of
// batches, and the memory and the order of the values follow from the row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "model/embedding_rows.h"
#include "model/model_file.h"
#include "tensor/dtype.h"

namespace rc::model {

enum class ForwardInput : uint8_t {
  kTokens,
  kPositions,
  kSequences,  // row of the page tables
  kPageTable,
  kOutputRows,  // rows whose output is wanted
  kStateSlots,  // where the states are before a sequence's rows, and after them
  kLengths,     // of sequences whose rows see all of theirs
  kSourceLengths,
  kSourceTable,        // page table of sources
  kWindowTable,        // page table of layers with a window
  kHeadNumbers,        // 0 to heads - 1 in each row
  kWindowHeadNumbers,  // the same of layers with a window
  kLonger,             // whether the row's sequence rotates as a longer one
  kPositionSteps,      // how many times ModelFile::position_step() fits
  kTypedPositions,     // rows of a table of positions for each type of tokens
  kLayerRows,          // rows of the table of each layer; see per_layer.h
  kEmbeddingRows,      // rows that take the place of tokens
  kRowChoice,          // whether a token's row counts, and whether such a row
  kEnd
};

// Stages of a program, for RunArguments; models that read no source have the
// first alone.
enum ForwardStage : size_t { kGenerate = 0, kReadSource = 1 };

// Set of stages, by bits.
using ForwardStages = uint32_t;
inline constexpr ForwardStages kNeverUsed = 0;
inline constexpr ForwardStages kGenerating = 1u << kGenerate;
inline constexpr ForwardStages kReadingSource = 1u << kReadSource;

// Rows of one sequence for a batch, as the caller of a step states them.
struct SequenceRows {
  // Of these rows; negative where an embedding row takes the token's place.
  std::span<const int32_t> tokens;
  // Of the whole sequence, whose item `first_item` is that of the first row.
  std::span<const EmbeddingRun> embeddings;
  int64_t first_item = 0;
  int64_t first_position = 0;
  // Of these rows, by number, those whose output is wanted.
  size_t outputs_begin = 0;
  size_t outputs_end = 0;
  // The number of the first row of the second text of a pair.
  size_t second_text = SIZE_MAX;
  // Whether the sequence has more tokens than ModelFile::short_context(),
  // counting those still to come of a prompt.
  bool longer = false;
  std::span<const int32_t> pages;
  std::span<const int32_t> window_pages;  // -1: no row sees it any more
  std::span<const int32_t> source_pages;
  int64_t source_length = 0;
  int32_t slot_before = -1;  // -1: there is no state yet
  int32_t slot_after = -1;
};

// Values that a step states, of those inputs that the program has. Each field
// belongs to one row of kForwardInputs.
struct BatchValues {
  std::vector<int32_t> tokens;      // [rows]
  std::vector<int32_t> positions;   // [rows]
  std::vector<int32_t> sequences;   // [rows]
  std::vector<int32_t> page_table;  // [sequences, pages_per_sequence]
  // The same of layers with a window, if they have pages of their own. What
  // no row sees any more may be any page.
  std::vector<int32_t> window_table;
  // Where the model reads a source: [sequences], the positions of each one's,
  // at least 1, and [sequences, pages_per_sequence], the pages that hold what
  // was read of it. Positions of other rows do not count those of the source.
  std::vector<int32_t> source_lengths;
  std::vector<int32_t> source_table;
  std::vector<int32_t> output_rows;  // [outputs]
  // [rows], where ModelFile::types_tokens(): 0 for tokens of the first text of
  // a pair, 1 for those of the second.
  std::vector<int32_t> types;
  // [rows], where ModelFile::short_context() isn't 0: 1 for those of sequences
  // that have more tokens, counting those still to come of a prompt, else 0. Of
  // one sequence all that its pages hold must have had the same.
  std::vector<int32_t> longer;
  // [sequences, 2], of models with states in slots: where the state is before
  // the first of a sequence's rows (-1: there is none yet), and where it goes
  // after the last.
  std::vector<int32_t> state_slots;
  // Where the program takes embedding rows, by the bits of their numbers:
  // [rows, 1, width], those that take the place of tokens and any others, and
  // [rows, 2], 1 and 0 for a token, 0 and 1 for an embedding row.
  std::vector<int32_t> embedding_rows;
  std::vector<int32_t> row_choice;
};

// One step: rows of tokens of one or more sequences. Positions of a sequence
// are consecutive within a batch and follow what its pages already hold; where
// rows see all of their sequence (ModelFile::causal), it is in one batch whole.
struct Batch : BatchValues {
  int64_t sequence_count = 0;
  // The payers of its rows, each with its part of them.
  std::vector<runtime::PaidPart> paid;
};

// Model and layout of which a program is made.
struct ProgramSetup {
  const ModelFile& file;
  const CacheLayout& layout;
  bool takes_embeddings = false;
};

// Place in a batch of the rows of one sequence.
struct RowsPlace {
  int32_t first_row;
  int32_t sequence;
  size_t width;  // of the input's last dimension; 1 if it has only one
};

// Batch that is checked, or that values are made from.
struct GivenBatch {
  const ModelFile& file;
  const CacheLayout& cache;
  const Batch& batch;
};

// One dimension: a number, or RC_DIM_*. nullptr: there is none.
using InputSize = int64_t (*)(const ProgramSetup& of);

// Rule for the values that a step states.
enum class InputCheck : uint8_t {
  kEach,           // every one is below the limit
  kUsedPages,      // those are that the positions of the batch need
  kSourcePages,    // those are that the lengths of sources need
  kSourceLengths,  // 1 to the limit
  kSlots,          // as kEach, and no sequence writes what another uses
  kNumbers         // any numbers; there is no limit
};

// Values of an input as a step states them.
struct StatedValues {
  using Values = std::vector<int32_t>;
  Values BatchValues::*field = nullptr;
  const char* entries = "";  // of the field, for messages
  const char* entry = "";
  InputCheck check = InputCheck::kEach;
  int64_t (*limit)(const GivenBatch& given) = nullptr;
  // Appends those of one sequence, for which there is room.
  void (*add)(const SequenceRows& rows, const RowsPlace& place,
              Values& values) = nullptr;
};

// One row of the table. The step fills an input that is only stated, and the
// model one that is only made; if it is both, the model makes its values of
// those that the step states.
struct InputDescription {
  ForwardInput input;
  const char* name;
  DType dtype;  // I32, or F32 whose values are stored by their bits
  InputSize shape[3];
  // The stages that use it; kNeverUsed: the program does not have it.
  ForwardStages (*stages)(const ProgramSetup& of);
  StatedValues stated;  // no field: the step states nothing
  // Makes the values of a batch. `values` holds those of the batch before.
  void (*make)(const GivenBatch& given, std::vector<int32_t>& values) = nullptr;
  // Whether there is one for each layer, one after the other.
  bool of_each_layer = false;
};

// Functions of the rows.
namespace inputs {

using Values = std::vector<int32_t>;

inline int64_t per_row(const ProgramSetup&) { return RC_DIM_ROWS; }
inline int64_t per_sequence(const ProgramSetup&) { return RC_DIM_SEQUENCES; }
inline int64_t per_output(const ProgramSetup&) { return RC_DIM_OUTPUTS; }
template <int64_t Size>
int64_t fixed(const ProgramSetup&) {
  return Size;
}
inline int64_t width(const ProgramSetup& of) {
  return of.file.hyper_parameters().width;
}
inline int64_t table_width(const ProgramSetup& of) {
  return of.layout.pages_per_sequence;
}
inline int64_t heads(const ProgramSetup& of) {
  return of.file.hyper_parameters().latent.heads;
}
inline int64_t window_heads(const ProgramSetup& of) {
  return of.file.hyper_parameters().window_latent.heads;
}

inline ForwardStages if_so(bool present) {
  return present ? kGenerating : kNeverUsed;
}
inline ForwardStages reading(const ProgramSetup& of) {
  return of.file.source() != nullptr ? kReadingSource : kNeverUsed;
}
inline ForwardStages generating(const ProgramSetup&) { return kGenerating; }
inline ForwardStages taking_embeddings(const ProgramSetup& of) {
  return if_so(of.takes_embeddings);
}
inline ForwardStages always(const ProgramSetup& of) {
  return kGenerating | reading(of);
}

inline int64_t vocabulary(const GivenBatch& given) {
  return given.file.hyper_parameters().vocabulary;
}
inline int64_t room(const GivenBatch& given) {
  return given.cache.pages_per_sequence * given.cache.page_size;
}
inline int64_t positions(const GivenBatch& given) {
  return std::min(room(given), given.file.position_limit());
}
inline int64_t sequences(const GivenBatch& given) {
  return given.batch.sequence_count;
}
inline int64_t rows(const GivenBatch& given) {
  return static_cast<int64_t>(given.batch.tokens.size());
}
inline int64_t pages(const GivenBatch& given) { return given.cache.pages; }
inline int64_t window_pages(const GivenBatch& given) {
  return given.cache.window_pages;
}
inline int64_t slots(const GivenBatch& given) { return given.cache.slots; }
inline int64_t two(const GivenBatch&) { return 2; }

inline void add_tokens(const SequenceRows& rows, const RowsPlace&,
                       Values& values) {
  for (const int32_t token : rows.tokens) values.push_back(std::max(token, 0));
}
inline void add_positions(const SequenceRows& rows, const RowsPlace&,
                          Values& values) {
  auto position = static_cast<int32_t>(rows.first_position);
  for (size_t i = 0; i < rows.tokens.size(); ++i) values.push_back(position++);
}
inline void add_sequences(const SequenceRows& rows, const RowsPlace& place,
                          Values& values) {
  values.insert(values.end(), rows.tokens.size(), place.sequence);
}
inline void add_output_rows(const SequenceRows& rows, const RowsPlace& place,
                            Values& values) {
  for (size_t i = rows.outputs_begin; i < rows.outputs_end; ++i) {
    values.push_back(place.first_row + static_cast<int32_t>(i));
  }
}
// Appends one row of a page table.
inline void add_table(std::span<const int32_t> pages, const RowsPlace& place,
                      Values& values) {
  const size_t end = values.size() + place.width;
  values.insert(values.end(), pages.begin(), pages.end());
  values.resize(end, 0);
}
inline void add_pages(const SequenceRows& rows, const RowsPlace& place,
                      Values& values) {
  add_table(rows.pages, place, values);
}
inline void add_source_pages(const SequenceRows& rows, const RowsPlace& place,
                             Values& values) {
  add_table(rows.source_pages, place, values);
}
inline void add_window_pages(const SequenceRows& rows, const RowsPlace& place,
                             Values& values) {
  const size_t begin = values.size();
  add_table(rows.window_pages, place, values);
  for (size_t i = begin; i < values.size(); ++i) {
    values[i] = std::max(values[i], 0);
  }
}
inline void add_source_length(const SequenceRows& rows, const RowsPlace&,
                              Values& values) {
  values.push_back(static_cast<int32_t>(rows.source_length));
}
inline void add_slots(const SequenceRows& rows, const RowsPlace&,
                      Values& values) {
  values.push_back(rows.slot_before);
  values.push_back(rows.slot_after);
}
inline void add_longer(const SequenceRows& rows, const RowsPlace&,
                       Values& values) {
  values.insert(values.end(), rows.tokens.size(), rows.longer ? 1 : 0);
}
inline void add_types(const SequenceRows& rows, const RowsPlace&,
                      Values& values) {
  for (size_t i = 0; i < rows.tokens.size(); ++i) {
    values.push_back(i >= rows.second_text ? 1 : 0);
  }
}

void add_embedding_rows(const SequenceRows& rows, const RowsPlace& place,
                        Values& values);
void add_row_choice(const SequenceRows& rows, const RowsPlace& place,
                    Values& values);
void make_lengths(const GivenBatch& given, Values& values);
void make_head_numbers(const GivenBatch& given, Values& values);
void make_window_head_numbers(const GivenBatch& given, Values& values);
void make_position_steps(const GivenBatch& given, Values& values);
void make_typed_positions(const GivenBatch& given, Values& values);
void make_layer_rows(const GivenBatch& given, Values& values);

}  // namespace inputs

// In the order of the program's inputs.
inline constexpr InputDescription kForwardInputs[] = {
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

inline constexpr size_t kForwardInputCount = std::size(kForwardInputs);

constexpr const InputDescription& description_of(ForwardInput input) {
  return kForwardInputs[static_cast<size_t>(input)];
}

}  // namespace rc::model
