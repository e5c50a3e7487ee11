// The contents of a file that the program of its model does not use.
//
// A tensor or a metadata key that would change the results of the model must
// not be ignored: the file is refused by that name. Those that may be ignored
// are listed in unused.cc and unread_keys.cc, with the reasons. Keys outside
// "general.", "tokenizer." and the architecture's own are notes of other
// programs.
#pragma once

#include "files/gguf/file.h"
#include "model/architecture.h"
#include "model/model_file.h"
#include "runtime/program.h"

namespace rc::model {

// Throws RC_E_UNSUPPORTED for a file that is only a part of a model.
void check_whole(const gguf::File& file);

// Throws RC_E_UNSUPPORTED naming the first key or tensor that the program would
// have to use, and does not.
void check_all_used(const gguf::File& file, const Architecture& architecture,
                    const HyperParameters& hyper, ForwardOutput output,
                    const runtime::ProgramDescription& program);

}  // namespace rc::model
