// The logits of every position of a list of tokens, in a file: rows
// [positions, vocabulary] of little-endian f32.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "handles.h"

namespace cli {

class RawLogits {
 public:
  // Opens the file, so that a bad path is reported before hours of generating.
  explicit RawLogits(std::string path);

  // Evaluates the tokens in a session of its own. On a CPU device the logits
  // are bit for bit those that a generation saw; see the promise of
  // determinism.
  void write(const Model& model, const std::vector<int32_t>& tokens);

 private:
  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail_writing() const;

  const std::string path_;
  std::unique_ptr<FILE, Close> file_;
};

}  // namespace cli
