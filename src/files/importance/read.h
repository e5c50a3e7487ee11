// Importance of the columns of weights, as llama.cpp's tool imatrix measures
// it: for each matrix the mean of the squares of what it was multiplied by.
//
// Two forms are read. A GGUF file has the general.type "imatrix", the keys
// imatrix.datasets, imatrix.chunk_count and imatrix.chunk_size, and for each
// matrix NAME the tensors NAME.in_sum2, [experts, columns] sums of squares, and
// NAME.counts, [experts, 1] or [experts], of how many rows each is the sum. The
// older form is, in little-endian integers of 32 bits and floats: the number of
// entries; of each the length of its name, the name, the number of calls, the
// number of values, and values that are multiplied by the calls; and in the end
// the number of chunks, and the length and name of the text, which may be
// missing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rc::importance {

struct Importance {
  std::string file;     // the path it was read from
  std::string dataset;  // the text that it was measured with; may be empty
  int64_t chunks = 0;   // how many pieces of it; 0: not known
  // By the names of matrices: [experts, columns], finite and not negative.
  // Columns that were never used are 0.
  std::map<std::string, std::vector<float>, std::less<>> values;
};

// Reads a file. Throws RC_E_NOT_FOUND, RC_E_IO and RC_E_FORMAT, which name the
// file and the tensor.
Importance read(const std::string& path);

}  // namespace rc::importance
