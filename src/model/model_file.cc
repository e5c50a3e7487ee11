#include "model/model_file.h"
#include "model/alibi.h"
#include "model/time_mix.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "files/open_model.h"
#include "files/quantized_file.h"
#include "model/architecture.h"
#include "model/embedding.h"
#include "model/fingerprint.h"
#include "model/forward.h"
#include "model/heads.h"
#include "model/layer_state.h"
#include "model/lightning.h"
#include "model/norm.h"
#include "model/output.h"
#include "model/relative_bias.h"
#include "model/rope_weights.h"
#include "model/sparsity.h"
#include "model/step_limits.h"
#include "model/unused.h"
#include "model/weight_name.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

// All elements of a tensor of plain floats.
std::vector<float> decode(const gguf::File& file, const gguf::Tensor& tensor) {
  int64_t count = 1;
  for (const int64_t size : tensor.shape) count *= size;
  std::vector<float> values(static_cast<size_t>(count));
  decode_row(tensor.dtype, file.read(tensor).data(), values.data(), count);
  return values;
}

uint64_t row_bytes_of_head(int64_t size, DType dtype) {
  if (dtype != RC_DTYPE_F32 && dtype != RC_DTYPE_F16 &&
      dtype != RC_DTYPE_Q8_0) {
    fail(RC_E_INVALID_ARGUMENT, "a KV cache of type ", dtype_name(dtype),
         " is not possible; use F16, F32 or Q8_0");
  }
  const std::optional<uint64_t> bytes = row_bytes(dtype, size);
  if (!bytes) {
    fail(RC_E_UNSUPPORTED, "a KV cache of type ", dtype_name(dtype),
         " needs heads of a multiple of ", dtype_info(dtype)->block_size,
         " elements, but the model's have ", size, "; use F16 or F32");
  }
  return *bytes;
}

constexpr int64_t kMaxPageSize = 4096;
constexpr int64_t kMaxPages = int64_t{1} << 30;

void check_range(const char* name, int64_t value, int64_t high) {
  if (value < 1 || value > high) {
    fail(RC_E_INVALID_ARGUMENT, "KV cache: ", name, " is ", value,
         ", but must be 1 to ", high);
  }
}

}  // namespace

std::shared_ptr<const ModelFile> ModelFile::open(
    const std::string& path, std::optional<ForwardOutput> output,
    const std::string& quantize) {
  return open(open_model(path), output, quantize);
}

std::shared_ptr<const ModelFile> ModelFile::open(
    std::shared_ptr<const gguf::File> file, std::optional<ForwardOutput> output,
    const std::string& quantize) {
  if (!quantize.empty()) file = quantized_file(std::move(file), quantize);
  return from_gguf(std::move(file), output);
}

std::shared_ptr<const ModelFile> ModelFile::from_gguf(
    std::shared_ptr<const gguf::File> shared_file,
    std::optional<ForwardOutput> output, MissingTensors* missing) {
  std::shared_ptr<ModelFile> model(new ModelFile());
  model->file_ = std::move(shared_file);
  const gguf::File& file = *model->file_;
  model->architecture_ = &find_architecture(file);
  check_whole(file);
  model->hyper_ = read_hyper_parameters(file, *model->architecture_);
  model->output_ =
      settle_output(file, *model->architecture_, model->hyper_.pooling, output);
  if (const Architecture* source = model->architecture_->source) {
    HyperParameters of_source = read_hyper_parameters(file, *source);
    if (model->output_ == ForwardOutput::kHiddenRows) {
      // Those of the encoder, which needs nothing of the rest.
      model->architecture_ = source;
      model->hyper_ = std::move(of_source);
    } else {
      model->source_ = std::move(of_source);
    }
  }
  model->types_tokens_ = model->output_ == ForwardOutput::kScores &&
                         type_count(file, *model->architecture_) > 1;
  model->slot_bytes_ = model::slot_bytes(model->hyper_);
  model->rope_scales_ = make_ropes(file, *model->architecture_, model->hyper_,
                                   model->made_weights_);
  if (model->hyper_.position_scale != 0.0f) {
    model->made_weights_.emplace(kPositionScaleWeight,
                                 scales_of_positions(model->hyper_));
  }
  if (model->architecture_->attention.head_norm == HeadNorm::kUnweighted) {
    model->made_weights_.emplace(
        kOnesWeight,
        std::vector<float>(static_cast<size_t>(model->hyper_.key_size), 1.0f));
  }
  make_gates(file, *model->architecture_, model->hyper_, model->made_weights_);
  make_row_weights(model->hyper_, model->made_weights_);
  make_lightning(model->hyper_, model->made_weights_);
  make_step_weights(model->hyper_.state_space, model->made_weights_);
  if (mixes_time(model->architecture_->recurrence.mixer)) {
    model->made_weights_.emplace(kDifferenceWeight,
                                 differences(model->hyper_.width));
  }
  if (model->hyper_.alibi > 0.0f) {
    const double factor =
        model->architecture_->position.scaled_alibi
            ? model->architecture_->attention.scale(model->hyper_)
            : 1.0;
    for (const Layer& layer : model->hyper_.layers) {
      model->made_weights_.try_emplace(
          slopes_weight_name(layer.heads),
          alibi_slopes(layer.heads, model->hyper_.alibi, factor));
    }
  }
  make_relative_biases(file, *model->architecture_, model->hyper_,
                       model->made_weights_);
  if (model->source_) {
    make_relative_biases(file, *model->architecture_->source, *model->source_,
                         model->made_weights_);
  }
  if (auto positions =
          learned_positions(file, *model->architecture_, model->hyper_)) {
    model->made_weights_.emplace(kPositionWeight, std::move(*positions));
  }

  model->tokenizer_ = text::Tokenizer::load(file);
  model->suppressed_tokens_ =
      text::read_suppressed_tokens(file, model->hyper_.vocabulary);
  if (model->output_ == ForwardOutput::kScores && !has_classifier(file)) {
    model->score_tokens_ = score_tokens(file, model->tokenizer_.get());
  }

  // Describing the program looks at every tensor that it needs.
  const runtime::ProgramDescription program = model->forward(
      {.dtype = RC_DTYPE_F32, .pages = 1, .pages_per_sequence = 1, .slots = 1},
      /*takes_embeddings=*/false, missing);
  if (missing != nullptr && !missing->list.empty()) {
    throw MissingTensor(missing->list.front());
  }
  for (const runtime::WeightInfo& weight : program.weights) {
    if (model->is_made(weight.name)) continue;
    const gguf::Tensor tensor = model->weight_tensor(weight.name);
    if (tensor.dtype != weight.dtype) {
      model->made_weights_.emplace(weight.name, decode(file, tensor));
    }
  }
  // The file's keys are those of both parts.
  if (model->source_) {
    model->hyper_.keys.insert(model->hyper_.keys.end(),
                              model->source_->keys.begin(),
                              model->source_->keys.end());
  }
  const rc_plugin_value result = program.outputs().front();
  model->output_size_ = result.shape[result.rank - 1];
  check_all_used(file, *model->architecture_, model->hyper_, model->output_,
                 program);

  // A token without a row could not be evaluated.
  if (model->tokenizer_ != nullptr &&
      model->tokenizer_->size() > model->hyper_.vocabulary) {
    fail(RC_E_FORMAT, file.name(), ": the vocabulary has ",
         model->tokenizer_->size(), " tokens, but ",
         model->architecture_->names.token_embedding, " has ",
         model->hyper_.vocabulary, " rows");
  }
  model->fingerprint_ = model::fingerprint(file);
  return model;
}

bool ModelFile::causal() const { return architecture_->attention.causal; }

int64_t ModelFile::position_limit() const {
  if (architecture_->embedding.learned_positions) return hyper_.context_length;
  if (hyper_.chosen_positions > 0) return hyper_.chosen_positions;
  return position_step() > 0 ? position_step() * position_steps(hyper_)
                             : INT64_MAX;
}

int64_t ModelFile::short_context(const CacheLayout& layout) const {
  return model::short_context(*file_, *architecture_, hyper_, layout);
}

int64_t ModelFile::position_step() const {
  return hyper_.position_scale != 0.0f ? hyper_.ropes[0].original_context : 0;
}

runtime::ProgramDescription ModelFile::forward(const CacheLayout& layout,
                                               bool takes_embeddings,
                                               MissingTensors* missing) const {
  check_range("page size", layout.page_size, kMaxPageSize);
  check_range("number of pages", layout.pages, kMaxPages);
  check_range("pages per sequence", layout.pages_per_sequence, kMaxPages);
  if (slot_bytes() > 0) check_range("number of slots", layout.slots, kMaxPages);
  if (layout.window_pages != 0) {
    if (!causal()) {
      fail(
          RC_E_INVALID_ARGUMENT,
          "KV cache: there are no pages of windows where rows see those behind "
          "them");
    }
    check_range("number of window pages", layout.window_pages, kMaxPages);
  }
  row_bytes_of_head(hyper_.key_size, layout.dtype);
  for (const Layer& layer : hyper_.layers) {
    if (!layer.has_cache()) continue;
    row_bytes_of_head(layer.key_size, layout.dtype);
    row_bytes_of_head(layer.value_size, layout.dtype);
  }
  return forward_program(*architecture_, hyper_, rope_scales_, source(), *file_,
                         layout, {output_, score_tokens_},
                         ProgramInputs({*this, layout, takes_embeddings}),
                         missing);
}

gguf::Tensor ModelFile::weight_tensor(const std::string& name) const {
  const gguf::Tensor* tensor = tensor_of_weight(*file_, name);
  if (tensor == nullptr) {
    fail(RC_E_NOT_FOUND, file_->name(), ": there is no tensor ", name);
  }
  return rows_of_weight(*tensor, name);
}

bool ModelFile::is_made(const std::string& weight) const {
  return made_weights_.contains(weight);
}

const void* ModelFile::read_weight(const std::string& name,
                                   WeightBuffer& buffer, int threads) const {
  const auto made = made_weights_.find(name);
  if (made != made_weights_.end()) return made->second.data();
  if (const auto rows = rows_of_heads(name)) {
    return buffer.read(*file_, *tensor_of_weight(*file_, name), *rows);
  }
  return buffer.read(*file_, weight_tensor(name), threads);
}

uint64_t ModelFile::page_bytes(const CacheLayout& layout,
                               LayerState::Kind kind) const {
  check_range("page size", layout.page_size, kMaxPageSize);
  uint64_t bytes = 0;  // of one position
  for (const LayerState& state : layer_states(hyper_, layout)) {
    if (state.kind != kind) continue;
    bytes += static_cast<uint64_t>(state.shape[0]) *
             row_bytes_of_head(state.shape[1], layout.dtype);
  }
  return bytes * static_cast<uint64_t>(layout.page_size);
}

}  // namespace rc::model
