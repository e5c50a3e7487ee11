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

  // Evaluates the prompt and the answer in a new session. On a CPU device the
  // logits are bit for bit those of the generation; see the promise of
  // determinism. For a model that reads a source, the prompt is the source, and
  // the first row belongs to the token that begins every answer.
  void write(const Model& model, const std::vector<int32_t>& prompt,
             const std::vector<int32_t>& answer);

 private:
  // Those of what the session has and has not evaluated.
  void write_rows(const Session& session);
  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail_writing() const;

  const std::string path_;
  std::unique_ptr<FILE, Close> file_;
};

}  // namespace cli
