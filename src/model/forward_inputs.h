// The inputs of a forward pass: one table has the name, the element type and
// the shape of each, when a program has it, and how its values are found.
//
// A new input is an entry of ForwardInput and a row of kForwardInputs. If a
// step states its values, a field of BatchValues holds them, and SequenceRows
// may need a field that they come from. Descriptions of programs, checks of
// batches, and the memory and the order of the values follow from the row.
#pragma once

#include <cstddef>
#include <cstdint>
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
  // Those of these rows, in order, by places in the sequence, of which
  // `first_item` is that of the first row; may reach beyond both ends.
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
  // The same for layers with a window, if they have separate pages. Entries
  // that no row sees any more may be any page.
  std::vector<int32_t> window_table;
  // For models that read a source: [sequences], the length of each sequence's
  // source, at least 1, and [sequences, pages_per_sequence], the pages with its
  // keys and values. Positions of other rows do not count those of the source.
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

inline constexpr size_t kForwardInputCount =
    static_cast<size_t>(ForwardInput::kEnd);

// In the order of the program's inputs.
extern const InputDescription kForwardInputs[kForwardInputCount];

inline const InputDescription& description_of(ForwardInput input) {
  return kForwardInputs[static_cast<size_t>(input)];
}

}  // namespace rc::model
