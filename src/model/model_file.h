// A model as its file describes it, checked, before any device is involved:
// hyper-parameters, architecture, the list of weights, the tokenizer, and the
// forward pass as a program description.
//
// Immutable; may be used from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "files/gguf/file.h"
#include "model/hyper_parameters.h"
#include "model/layer_state.h"
#include "model/weight_buffer.h"
#include "runtime/program.h"
#include "text/tokenizer.h"

namespace rc::model {

struct MissingTensors;

// The one output of the forward program, F32 [outputs,
// ModelFile::output_size()]. Its inputs are in forward_inputs.h.
enum class ForwardOutput {
  kLogits,      // one for each token of the vocabulary
  kHiddenRows,  // of the last layer, as wide as the model
  kScores       // of pairs of texts: what the model's classifier gives, or how
                // much more likely "yes" is than "no" as the next token
};

// The tokens whose probabilities a score compares.
struct ScoreTokens {
  int32_t yes = 0;
  int32_t no = 0;
};

class ModelFile {
 public:
  // Opens and checks. Throws RC_E_UNSUPPORTED naming an unknown architecture,
  // undecodable tensor type or what the model needs and the program has not
  // (see unused.h), RC_E_FORMAT naming a missing or misshapen tensor or a
  // hyper-parameter out of range, RC_E_UNSUPPORTED for an output that the model
  // cannot have. Without an output it is what the file is made for: scores or
  // hidden rows where its pooling_type says so, else what its architecture
  // gives. With a type to quantize to, weights are quantized while they are
  // read (see files/quantized_file.h).
  static std::shared_ptr<const ModelFile> open(
      const std::string& path, std::optional<ForwardOutput> output = {},
      const std::string& quantize = {});
  static std::shared_ptr<const ModelFile> open(
      std::shared_ptr<const gguf::File> file,
      std::optional<ForwardOutput> output, const std::string& quantize);
  // With `missing`, all tensors that are missing or of another shape are added
  // to it before one of them is thrown as a MissingTensor.
  static std::shared_ptr<const ModelFile> from_gguf(
      std::shared_ptr<const gguf::File> file,
      std::optional<ForwardOutput> output = {},
      MissingTensors* missing = nullptr);

  const gguf::File& file() const { return *file_; }
  const HyperParameters& hyper_parameters() const { return hyper_; }
  // nullptr if the file has no vocabulary.
  const std::shared_ptr<const text::Tokenizer>& tokenizer() const {
    return tokenizer_;
  }
  // Tokens that are never generated, whatever their logits.
  const std::vector<text::TokenId>& suppressed_tokens() const {
    return suppressed_tokens_;
  }
  ForwardOutput output() const { return output_; }
  int64_t output_size() const { return output_size_; }  // elements of a row
  // Whether the two texts of a pair have tokens of different types.
  bool types_tokens() const { return types_tokens_; }
  // Whether rows see only those before them; if not, all of their sequence.
  bool causal() const;
  // Of the encoder that reads a source first, whose rows those that generate
  // attend to; nullptr: there is none. See source.h.
  const HyperParameters* source() const {
    return source_ ? &*source_ : nullptr;
  }
  // Positions from here on are unknown to the model; INT64_MAX if all are
  // known.
  int64_t position_limit() const;
  // Sequences of more tokens rotate otherwise, from their first position on; 0:
  // all that the layout allows rotate alike.
  int64_t short_context(const CacheLayout& layout) const;
  // Returns the number of positions with the same scale of queries; 0: they are
  // not scaled by their position.
  int64_t position_step() const;
  // `takes_embeddings`: see embedding_rows.h.
  runtime::ProgramDescription forward(const CacheLayout& layout,
                                      bool takes_embeddings = false,
                                      MissingTensors* missing = nullptr) const;
  // The bytes of a weight that forward() names: read from the file into the
  // buffer, or made (rotary frequencies, positions with a type of tokens, norms
  // and biases that the file does not hold as F32). Valid until the next call
  // with that buffer; see there.
  const void* read_weight(const std::string& name, WeightBuffer& buffer,
                          int threads = 1) const;
  bool is_made(const std::string& weight) const;
  // The tensor of a weight that was not made, or the rows of one; see
  // weight_name.h.
  gguf::Tensor weight_tensor(const std::string& name) const;
  const std::shared_ptr<const gguf::File>& shared_file() const { return file_; }
  // Bytes of one page of all caches of a kind together, kPages or kWindow.
  uint64_t page_bytes(const CacheLayout& layout, LayerState::Kind kind) const;
  // Bytes of all states together for one slot; 0 for a model without.
  uint64_t slot_bytes() const { return slot_bytes_; }
  // Identifies the model; saved sessions carry it. See fingerprint.h.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  ModelFile() = default;
  std::shared_ptr<const gguf::File> file_;
  HyperParameters hyper_;
  std::optional<HyperParameters> source_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::vector<text::TokenId> suppressed_tokens_;
  const Architecture* architecture_ = nullptr;
  ForwardOutput output_ = ForwardOutput::kLogits;
  int64_t output_size_ = 0;
  bool types_tokens_ = false;
  ScoreTokens score_tokens_;        // of decoders that give scores
  std::vector<float> rope_scales_;  // by number in HyperParameters::ropes
  std::unordered_map<std::string, std::vector<float>> made_weights_;
  uint64_t slot_bytes_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace rc::model
