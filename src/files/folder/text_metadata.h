// The metadata of a folder's tokenizer and templates: tokenizer.json as it is,
// under the key that the GGUF specification has for it, numbers of tokens, and
// templates of chats.
#pragma once

#include "files/folder/config.h"
#include "files/folder/folder.h"
#include "files/gguf/writer.h"

namespace rc::folder {

// `config` is that of config.json. A folder without any of these files gets
// nothing. Throws RC_E_FORMAT naming the file.
void add_text_metadata(const Config& config, Folder& folder,
                       gguf::Writer& writer);

}  // namespace rc::folder
