// Models whose tensors are in several GGUF files: NAME-00001-of-00003.gguf and
// so on. Each says with split.no which part it is, of split.count, and with
// split.tensors.count how many tensors all of them have. Metadata is in the
// first.
#pragma once

#include <memory>

#include "files/gguf/file.h"

namespace rc::gguf {

// The most parts that a model may have.
inline constexpr int64_t kMaxParts = 4096;

// The file that all parts together are, given any one of them; a file that is
// no part as it is. Throws RC_E_NOT_FOUND naming the part that is missing;
// RC_E_FORMAT naming file and key or tensor if the parts are not those of one
// model, or one has another name; and what File::open throws.
std::shared_ptr<const File> join_parts(std::shared_ptr<const File> part);

}  // namespace rc::gguf
