// The description of the folders of a model family, as data: the names of its
// configuration in metadata, and of its tensors.
//
// To add an architecture, define one in a file of architectures/; the build
// lists them. The forward pass is described in src/model/architectures/.
#pragma once

#include <span>
#include <string_view>

#include "files/folder/description.h"
#include "files/folder/rules.h"

namespace rc::folder {

// Another name of a member of config.json.
struct Alias {
  std::string_view from;
  std::string_view to;  // as the functions of description.h call it
};

struct Architecture {
  std::string_view model_type;  // of config.json
  // Whether a folder with this model_type is of this architecture; nullptr: it
  // is unless another one applies.
  bool (*applies)(const Config& config) = nullptr;
  std::string_view name;  // general.architecture
  // The values that transformers assumes for absent members, as a JSON object.
  std::string_view defaults = "{}";
  Alias aliases[3] = {};
  // Beginnings of names of tensors, and what stands for them in the rules.
  Rename renames[2] = {};
  Rules rules[7] = {};
  // Metadata besides the name.
  void (*describe)(Description& model) = nullptr;
  // Metadata that the folder has as tensors.
  void (*describe_tensors)(Description& model,
                           const safetensors::Shards& shards) = nullptr;
  // See model::Architecture.
  bool whole_yarn_pairs = true;
  bool gives_hidden_rows = false;
  // The member of config.json that describes the part that is read; empty:
  // config.json itself.
  std::string_view part = {};
};

// All of them.
std::span<const Architecture* const> known_architectures();

// Throws RC_E_UNSUPPORTED naming the model_type.
const Architecture& find_architecture(const Config& config);

}  // namespace rc::folder
