#include "model/model_util.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>

#include "base/error.h"
#include "cpu/level.h"
#include "runtime/registry.h"
#include "test_data.h"

namespace rc::test {

namespace {

// RUNCIBLE_ISA while a device is opened.
class ForcedLevel {
 public:
  explicit ForcedLevel(const std::string& level) {
    const char* old = std::getenv(kVariable);
    if (old != nullptr) old_ = old;
    if (!level.empty()) setenv(kVariable, level.c_str(), 1);
  }
  ~ForcedLevel() {
    if (old_) {
      setenv(kVariable, old_->c_str(), 1);
    } else {
      unsetenv(kVariable);
    }
  }
  ForcedLevel(const ForcedLevel&) = delete;
  ForcedLevel& operator=(const ForcedLevel&) = delete;

 private:
  static constexpr const char* kVariable = "RUNCIBLE_ISA";
  std::optional<std::string> old_;
};

}  // namespace

std::vector<std::string> cpu_backends() {
  std::vector<std::string> backends;
  for (const cpu::Level* level : cpu::available_levels()) {
    backends.push_back(std::string("cpu/") + level->name);
  }
  return backends;
}

std::vector<std::string> all_backends() {
  std::vector<std::string> backends = cpu_backends();
  backends.insert(backends.begin(), "reference");
  return backends;
}

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
      '_');
  return text;
}

std::shared_ptr<runtime::Device> open_device(const std::string& backend,
                                             int threads) {
  const size_t slash = std::min(backend.find('/'), backend.size() - 1);
  const bool levelled = backend[slash] == '/';
  const ForcedLevel level(levelled ? backend.substr(slash + 1) : "");
  runtime::Selection selection;
  selection.spec = levelled ? backend.substr(0, slash) : backend;
  selection.device.threads = threads;
  return runtime::select(selection).device;
}

model::ResidentOptions options_of(const Room& room) {
  model::ResidentOptions options;
  options.cache.dtype = room.cache;
  options.cache.page_size = room.page_size;
  options.cache.pages = room.pages;
  options.cache.pages_per_sequence = room.pages_per_sequence;
  options.cache.slots = room.pages;
  options.cache.window_pages = room.window_pages;
  options.keep_mapped = room.keep_mapped;
  options.experts_mapped = room.resident_experts > 0;
  options.resident_experts = room.resident_experts;
  options.takes_embeddings = room.takes_embeddings;
  options.limits = {.max_rows = 256, .max_outputs = 256, .max_sequences = 16};
  return options;
}

std::unique_ptr<model::ResidentModel> load(
    std::shared_ptr<const model::ModelFile> file, const std::string& backend,
    const Room& room, int threads) {
  return load(std::move(file), open_device(backend, threads), room);
}

std::unique_ptr<model::ResidentModel> load(
    std::shared_ptr<const model::ModelFile> file,
    std::shared_ptr<runtime::Device> device, const Room& room) {
  model::Placement placement =
      model::place(*file, options_of(room), std::move(device));
  return model::ResidentModel::load(std::move(file), std::move(placement),
                                    options_of(room), {});
}

std::vector<int32_t> pages_from(int32_t first, int32_t count) {
  std::vector<int32_t> pages(static_cast<size_t>(count));
  std::iota(pages.begin(), pages.end(), first);
  return pages;
}

namespace {

const std::vector<int32_t>& source_of(const Sequence& sequence) {
  return sequence.source.empty() ? sequence.tokens : sequence.source;
}

// The pages of a sequence that hold its source.
size_t source_pages(const model::ResidentModel& model,
                    const Sequence& sequence) {
  if (model.file().source() == nullptr) return 0;
  const auto page = static_cast<size_t>(model.options().cache.page_size);
  return (source_of(sequence).size() + page - 1) / page;
}

// Returns rows of a sequence, still without tokens.
model::SequenceRows rows_of(const model::ResidentModel& model,
                            const Sequence& sequence) {
  model::SequenceRows rows;
  const std::span<const int32_t> pages(sequence.pages);
  const size_t of_source = source_pages(model, sequence);
  rows.source_pages = pages.first(of_source);
  rows.source_length = static_cast<int64_t>(source_of(sequence).size());
  rows.pages = pages.subspan(of_source);
  const int64_t most = model.short_context();
  const auto length =
      sequence.start + static_cast<int64_t>(sequence.tokens.size());
  rows.longer = most > 0 && length > most;
  // The slot has the number of the first page.
  rows.slot_after = pages.front();
  return rows;
}

// All that begin, in one batch.
void read_sources(model::ResidentModel& model,
                  const std::vector<Sequence>& sequences) {
  if (model.file().source() == nullptr) return;
  model::Batch batch;
  for (const Sequence& sequence : sequences) {
    if (sequence.start > 0) continue;
    model::SequenceRows rows = rows_of(model, sequence);
    rows.tokens = source_of(sequence);
    model.inputs().add(batch, model::kReadSource, rows);
  }
  if (!batch.tokens.empty()) model.read_sources(batch, nullptr, nullptr, -1);
}

}  // namespace

std::vector<std::vector<float>> evaluate(model::ResidentModel& model,
                                         const std::vector<Sequence>& sequences,
                                         size_t chunk) {
  read_sources(model, sequences);
  const auto size = static_cast<size_t>(model.file().output_size());
  const auto table_width =
      static_cast<size_t>(model.options().cache.pages_per_sequence);
  std::vector<std::vector<float>> outputs(sequences.size());
  for (size_t done = 0;; done += chunk) {
    model::Batch batch;
    std::vector<size_t> owners;
    for (size_t s = 0; s < sequences.size(); ++s) {
      const Sequence& sequence = sequences[s];
      if (done >= sequence.tokens.size()) continue;
      const size_t end = std::min(done + chunk, sequence.tokens.size());
      model::SequenceRows rows = rows_of(model, sequence);
      rows.tokens = std::span(sequence.tokens).subspan(done, end - done);
      rows.first_position = sequence.start + static_cast<int64_t>(done);
      rows.outputs_end = end - done;
      std::vector<int32_t> window_pages;
      if (const auto own =
              static_cast<int32_t>(model.options().cache.window_pages / 3);
          own > 0) {
        for (size_t i = 0; i < table_width; ++i) {
          window_pages.push_back(static_cast<int32_t>(s) * own +
                                 static_cast<int32_t>(i) % own);
        }
      }
      rows.window_pages = window_pages;
      const bool begins = sequence.start == 0 && done == 0;
      rows.slot_before = begins ? -1 : sequence.pages.front();
      model.inputs().add(batch, model::kGenerate, rows);
      owners.insert(owners.end(), end - done, s);
    }
    if (batch.tokens.empty()) return outputs;
    std::vector<float> all(batch.tokens.size() * size,
                           std::numeric_limits<float>::quiet_NaN());
    model.run(batch, all.data(), nullptr, nullptr, -1);
    for (size_t row = 0; row < owners.size(); ++row) {
      const auto begin = all.begin() + static_cast<ptrdiff_t>(row * size);
      outputs[owners[row]].insert(outputs[owners[row]].end(), begin,
                                  begin + static_cast<ptrdiff_t>(size));
    }
  }
}

std::vector<float> evaluate(model::ResidentModel& model,
                            const std::vector<int32_t>& tokens, size_t chunk) {
  const auto pages =
      static_cast<int32_t>(model.options().cache.pages_per_sequence);
  return evaluate(model, {{tokens, pages_from(0, pages), 0}}, chunk)[0];
}

std::vector<float> evaluate_case(model::ResidentModel& model,
                                 const std::string& name) {
  using Tokens = std::vector<int32_t>;
  const auto json = nlohmann::json::parse(std::ifstream(
      source_path(cat("tests/golden/architectures/", name, ".json"))));
  if (!json.contains("runs")) {
    return evaluate(model, json.at("tokens").get<Tokens>());
  }
  std::vector<float> rows;
  for (const auto& run : json.at("runs")) {
    const Sequence sequence = {run.at("tokens"), pages_from(3, 20), 0,
                               run.value("source", Tokens())};
    const bool causal = model.file().causal();
    const std::vector<float> more =
        evaluate(model, std::vector<Sequence>{sequence},
                 causal ? size_t{64} : sequence.tokens.size())[0];
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

std::vector<std::string> golden_architectures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           source_path("tests/golden/architectures"))) {
    if (entry.path().extension() == ".gguf") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::shared_ptr<const model::ModelFile> golden_model(
    const std::string& name, std::optional<model::ForwardOutput> output) {
  return model::ModelFile::open(
      source_path("tests/golden/architectures/" + name + ".gguf").string(),
      output);
}

std::vector<float> read_floats(const std::filesystem::path& path) {
  std::vector<float> floats(std::filesystem::file_size(path) / sizeof(float));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(floats.data()),
            static_cast<std::streamsize>(floats.size() * sizeof(float)));
  return floats;
}

double normalized_error(const std::vector<float>& actual,
                        const std::vector<float>& expected) {
  if (actual.size() != expected.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double error = 0.0;
  double power = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = double{actual[i]} - double{expected[i]};
    error += difference * difference;
    power += double{expected[i]} * double{expected[i]};
  }
  return error / power;
}

double relative_error(const std::vector<float>& actual,
                      const std::vector<float>& expected) {
  if (actual.size() != expected.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double largest = 0.0;
  double power = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{actual[i]} - double{expected[i]});
    // Not std::max, which would pass over NaN.
    if (!(difference <= largest)) largest = difference;
    power += double{expected[i]} * double{expected[i]};
  }
  return largest / std::sqrt(power / static_cast<double>(expected.size()));
}

}  // namespace rc::test
