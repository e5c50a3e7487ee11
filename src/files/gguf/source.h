// The source of the data of tensors: a file of the system, or an object that
// presents other files as one, such as a folder of safetensors (see
// files/folder/).
//
// Immutable once made: any thread may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/open_file.h"

namespace rc::gguf {

class Source {
 public:
  struct Identity {
    // Of all files that it is made of, in a fixed order.
    std::vector<OpenFile::Identity> files;
    // The form that they are converted to, if it is not that of the files.
    std::string form;

    auto operator<=>(const Identity&) const = default;
  };

  virtual ~Source() = default;

  virtual uint64_t size() const = 0;  // bytes
  // Fills `target` with what lies at `offset`. Throws RC_E_IO naming `what`
  // (such as "tensor 'x'") if it is not there any more.
  virtual void read(uint64_t offset, std::span<std::byte> target,
                    const std::string& what) const = 0;
  // Throws RC_E_IO if anything was written to since it was opened.
  virtual void check_unchanged() const = 0;
  virtual const Identity& identity() const = 0;
  // Whether what is read is computed rather than copied, so that reading is as
  // fast as there are threads.
  virtual bool computes() const { return false; }
  // The files that hold the data of tensors as it is; empty: none do.
  virtual std::vector<std::shared_ptr<const OpenFile>> files() const {
    return {};
  }
  // Where in these files the tensor is whose data is at `offset`.
  struct Home {
    size_t file;
    uint64_t offset;
  };
  virtual Home home(uint64_t offset) const { return {0, offset}; }
};

}  // namespace rc::gguf
