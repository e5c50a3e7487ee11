// The pooling of hidden rows to a text's embedding, according to the files
// of sentence-transformers in a model's folder, and whether the model scores
// texts instead: https://sbert.net/docs/package_reference/
#pragma once

#include "files/folder/config.h"
#include "files/folder/description.h"
#include "files/folder/folder.h"
#include "files/gguf/writer.h"

namespace rc::folder {

// Whether the model has a head that gives a score for a text: one of its
// "architectures" is for the classification of sequences.
bool classifies(const Config& config);

// Adds pooling_type by GGUF's numbers, and under "sentence_transformers." what
// GGUF has no key for: whether rows are normalized, prompt.NAME and
// default_prompt_name. A folder without such files gets nothing. Throws
// RC_E_FORMAT naming the file; RC_E_UNSUPPORTED for modules that change rows in
// other ways, and kinds of pooling that are not known. Whether it is said how
// rows are pooled: then the model need not have logits.
bool add_pooling(const Config& config, Folder& folder, Description& model,
                 gguf::Writer& writer);

}  // namespace rc::folder
