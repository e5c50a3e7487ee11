// Models and devices for the tests of this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/resident_model.h"

namespace rc::test {

// The backends to test: "reference", and "cpu/LEVEL" for every level of
// instructions that this machine has.
std::vector<std::string> cpu_backends();
std::vector<std::string> all_backends();
// Text as the name of a test may have it.
std::string test_name(std::string text);

// A device of one of these; "cpu" is that of the highest level.
std::shared_ptr<runtime::Device> open_device(const std::string& backend,
                                             int threads = 0);

// Resident with room for 256 rows and `pages` pages of `page_size` positions.
struct Room {
  DType cache = RC_DTYPE_F32;
  int64_t page_size = 16;
  int64_t pages = 64;
  int64_t pages_per_sequence = 16;
  bool keep_mapped = false;
  int64_t resident_experts = 0;  // 0: all; else experts stay mapped
  bool takes_embeddings = false;
  // Pages of layers with a window; each sequence has a third of them, in turn.
  int64_t window_pages = 0;
};
model::ResidentOptions options_of(const Room& room);
std::unique_ptr<model::ResidentModel> load(
    std::shared_ptr<const model::ModelFile> file, const std::string& backend,
    const Room& room = {}, int threads = 0);
std::unique_ptr<model::ResidentModel> load(
    std::shared_ptr<const model::ModelFile> file,
    std::shared_ptr<runtime::Device> device, const Room& room = {});

// Tokens to evaluate, the pages to keep them in, and how many positions these
// hold already.
struct Sequence {
  std::vector<int32_t> tokens;
  std::vector<int32_t> pages;
  int32_t start = 0;
  // The source of models that read one, in the first pages; empty: the tokens.
  std::vector<int32_t> source = {};
};
// `count` pages from `first` on.
std::vector<int32_t> pages_from(int32_t first, int32_t count);

// The logits [tokens, vocabulary] or hidden rows [tokens, width] of each
// sequence, evaluated side by side, at most `chunk` tokens of each in one
// batch.
std::vector<std::vector<float>> evaluate(model::ResidentModel& model,
                                         const std::vector<Sequence>& sequences,
                                         size_t chunk);
std::vector<float> evaluate(model::ResidentModel& model,
                            const std::vector<int32_t>& tokens,
                            size_t chunk = 64);

// The rows of a case of tests/golden/architectures: of its tokens, or of each
// of its runs one after the other.
std::vector<float> evaluate_case(model::ResidentModel& model,
                                 const std::string& name);

std::vector<float> read_floats(const std::filesystem::path& path);

// The cases of tests/golden/architectures, and the model of one.
std::vector<std::string> golden_architectures();
std::shared_ptr<const model::ModelFile> golden_model(
    const std::string& name, std::optional<model::ForwardOutput> output = {});

// sum (a - b)^2 / sum b^2
double normalized_error(const std::vector<float>& actual,
                        const std::vector<float>& expected);
// max |a - b| / rms b
double relative_error(const std::vector<float>& actual,
                      const std::vector<float>& expected);

}  // namespace rc::test
