// Reading safetensors files.
//
// A file is hostile until proven otherwise: opening one checks all of its
// header (see header.h), and only the data of tensors is read when it is asked
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "files/safetensors/header.h"

namespace rc::safetensors {

// A source of the data of tensors.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  virtual const std::string& name() const = 0;  // of the file, for messages
  // Fills `target` with the data of one of its tensors from `offset` on, within
  // its bytes. Throws RC_E_IO naming the tensor if it is not there any more.
  virtual void read(const Tensor& tensor, uint64_t offset,
                    std::span<std::byte> target) const = 0;
};

class File : public TensorSource {
 public:
  // Throws RC_E_FORMAT and RC_E_UNSUPPORTED as parse_header does, RC_E_IO.
  static std::shared_ptr<const File> open(std::shared_ptr<const OpenFile> file);

  const std::string& name() const override { return file_->path(); }
  std::span<const Tensor> tensors() const { return tensors_; }  // by name
  const Tensor* find(std::string_view name) const;              // or nullptr

  void read(const Tensor& tensor, uint64_t offset,
            std::span<std::byte> target) const override;

 private:
  explicit File(std::shared_ptr<const OpenFile> file)
      : file_(std::move(file)) {}

  std::shared_ptr<const OpenFile> file_;
  uint64_t data_ = 0;  // where the data of tensors begins
  std::vector<Tensor> tensors_;
};

}  // namespace rc::safetensors
