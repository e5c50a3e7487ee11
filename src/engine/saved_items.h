// The items of a saved session in its file: the metadata
// runcible.session.tokens, an array of i32 with -1 where an embedding row is,
// and the tensor embedding_rows, F32 [rows, width], with these rows in their
// order, if there are any.
#pragma once

#include <cstdint>

#include "engine/items.h"
#include "files/gguf/file.h"
#include "files/gguf/writer.h"
#include "model/model_file.h"

namespace rc::engine {

// `items` must outlive the writer.
void add_items(const Items& items, gguf::Writer* writer);

// Throws RC_E_FORMAT naming what is missing or does not fit the model, or a
// number that is not finite; RC_E_CONTEXT_FULL for more items than
// `context_length`.
Items read_items(const gguf::File& file, const model::ModelFile& model,
                 int64_t context_length);

}  // namespace rc::engine
