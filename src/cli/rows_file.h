// Rows of numbers, as embeddings and scores are, in the forms of files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "handles.h"

namespace cli {

using Embedding = std::unique_ptr<rc_embedding, Release<rc_embedding_release>>;

struct RowsView {
  const float* values;  // [count, columns]; the embedding's
  size_t count;
  size_t columns;
};

// Waits for the end and heeds Ctrl-C. Throws a Failure.
RowsView wait_for_rows(const Embedding& embedding);

// Returns the shortest text that JSON reads as the same number; "null" for
// infinities and NaN.
std::string number_text(float value);

// The rows of texts as JSON, a line for each: {"embedding": [...]}. `empty`
// marks the texts without a row: {"embedding": null}.
std::string json_lines(const RowsView& rows, const std::vector<bool>& empty);
// The same as a NumPy array of little-endian floats, version 1.0 of its format,
// with rows of zeros for empty texts:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_bytes(const RowsView& rows, const std::vector<bool>& empty);

// Writes to a temporary file in the same folder, which then gets the name:
// there is never half a file of that name. Throws a Failure.
void write_whole_file(const std::string& path, const std::string& bytes);

// The texts of a file, or of stdin if the path is "-" or empty: its lines, or
// with a name that ends with .jsonl the strings in them, or the members of
// objects that are called by one of these names. An empty line is an empty
// text. Throws a Failure, also if all texts are empty.
std::vector<std::string> read_texts(const std::string& path,
                                    const std::vector<std::string>& names);

}  // namespace cli
