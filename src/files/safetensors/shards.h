// All tensors of a model, which lie in one safetensors file, or in several
// that an index names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/safetensors/file.h"

namespace rc::safetensors {

inline constexpr uint64_t kMaxIndexBytes = uint64_t{64} << 20;
inline constexpr size_t kMaxShards = 4096;

// One tensor and what it is read from.
struct Place {
  const TensorSource* file;
  const Tensor* tensor;
};

// Opens the file of that name in the model's folder.
using OpenShard =
    std::function<std::shared_ptr<const OpenFile>(const std::string& name)>;

class Shards {
 public:
  static Shards of_file(std::shared_ptr<const OpenFile> file);
  // `index` is the text of the index, `name` its file's for messages. Throws
  // RC_E_FORMAT naming the shard or the tensor unless each tensor is in the
  // shard that the index says and in no other; and what `open` throws.
  static Shards of_index(std::string_view index, const std::string& name,
                         const OpenShard& open);

  const std::vector<Place>& places() const { return places_; }  // by name
  // Takes others in their place, which `owners` keep alive.
  void replace(std::vector<Place> places,
               std::vector<std::shared_ptr<const TensorSource>> owners);

 private:
  void add(std::shared_ptr<const File> file);
  void sort();

  std::vector<std::shared_ptr<const File>> files_;
  std::vector<std::shared_ptr<const TensorSource>> owners_;
  std::vector<Place> places_;
};

}  // namespace rc::safetensors
