// The inputs of the products of a model, made visible: a forward program whose
// outputs are the inputs of its products, on any device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "files/gguf/file.h"
#include "runtime/program.h"

namespace rc::model {

// An input of products, and the tensors that it is multiplied with.
struct ObservedInput {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<std::string> tensors;
  // Number of the output: F32 [rows, width], or [rows, chosen, width] if each
  // chosen expert has a separate input.
  size_t values = kNone;
  // For products with experts, the number of the output with the chosen
  // experts, I32 [rows, chosen]. kNone if there are no experts, or if every row
  // uses all of them in order, as with heads.
  size_t ids = kNone;
  int64_t experts = 0;  // 0: no experts
  int64_t chosen = 1;
  int64_t width = 0;
  bool each_its_own = false;
};

struct Observation {
  std::vector<rc_plugin_value> outputs;  // by number
  std::vector<ObservedInput> inputs;

  // Of all outputs together, for one row.
  uint64_t bytes_per_row() const;
};

// Changes a forward program so that its outputs are the inputs of its products;
// all that comes behind the last of them is left out, and with it the weights
// that nothing else needs. Every row has to be wanted as an output row. Throws
// RC_E_UNSUPPORTED for a program without products.
Observation observe_products(const gguf::File& file,
                             runtime::ProgramDescription& program);

}  // namespace rc::model
