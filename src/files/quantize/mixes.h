// Which tensor of a file gets which type: the mixes that people know by their
// names, as data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf/file.h"
#include "tensor/dtype.h"

namespace rc::quantize {

struct Mix;

// A type or a mix by its name in upper or lower case: a name such as Q4_K is
// that type for all matrices, and Q4_K_M a mix that gives more bits to those
// that need them. Q4_0 and its like are mixes too, as they always were. Throws
// RC_E_INVALID_ARGUMENT naming all for any other text.
const Mix& find_mix(std::string_view name);
// The name of number `i` of all of them; nullptr behind the last.
const char* mix_name(size_t i);
// Its name in upper case, static, and its number as general.file_type has it.
const char* name_of(const Mix& mix);
uint32_t file_type(const Mix& mix);

// The types of a file's tensors, in their order. What stays as it is has the
// type that it has: vectors, what routes to experts, state spaces, positions,
// and quantized weights, of which `requantizes` encodes those again that become
// smaller. A matrix whose rows are no whole blocks of its type gets another
// type of about as many bits, or stays. `weighted`: an importance is at hand.
std::vector<DType> planned_types(const gguf::File& file, const Mix& mix,
                                 bool requantizes, bool weighted);

// Whether the type has so few bits that a tensor of that name is of no use in
// it unless they are spent on the columns that matter.
bool needs_importance(std::string_view tensor, DType type);

// Applies overrides "REGEX=TYPE": a tensor gets the ggml type of the first
// regular expression (Perl syntax) that matches a part of its name. Throws
// RC_E_INVALID_ARGUMENT if a text is malformed, an expression matches no
// tensor, or a tensor cannot have its type; RC_E_UNSUPPORTED if a type cannot
// be written.
void apply_overrides(const gguf::File& file,
                     std::span<const std::string> overrides,
                     std::vector<DType>& types);
// Throws the errors of apply_overrides that do not depend on the file.
void check_overrides(std::span<const std::string> overrides);

}  // namespace rc::quantize
