// The configuration of a folder's model, as the metadata that the engine knows.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/folder/config.h"
#include "files/folder/tensor_view.h"
#include "files/gguf/writer.h"

namespace rc::folder {

// Collects metadata. Keys are without the architecture's name.
class Description {
 public:
  // `config` is the part of `whole`, config.json, that describes what is read.
  // `whole_yarn_pairs`: see model::Architecture. All must outlive this.
  Description(const Config& config, const Config& whole,
              std::string_view architecture, bool whole_yarn_pairs,
              gguf::Writer& writer)
      : config_(config),
        whole_(whole),
        architecture_(architecture),
        whole_yarn_pairs_(whole_yarn_pairs),
        writer_(writer) {}

  const Config& config() const { return config_; }
  const Config& whole() const { return whole_; }
  std::string_view architecture() const { return architecture_; }
  bool whole_yarn_pairs() const { return whole_yarn_pairs_; }

  void add_int(const std::string& key, int64_t value);
  void add_number(const std::string& key, double value);
  void add_flag(const std::string& key, bool value);
  void add_text(const std::string& key, std::string_view value);
  void add_ints(const std::string& key, const std::vector<int64_t>& values);
  // As they are called in all files, without an architecture's name.
  void add_numbers(const std::string& key, const std::vector<float>& values);
  void add_flags(const std::string& key, const std::vector<bool>& values);
  // A tensor that no file holds.
  void add_tensor(std::string name, std::vector<float> values);
  std::vector<TensorView> take_tensors() { return std::move(tensors_); }

 private:
  std::string path(const std::string& key) const;

  const Config& config_;
  const Config& whole_;
  std::string_view architecture_;
  bool whole_yarn_pairs_;
  gguf::Writer& writer_;
  std::vector<TensorView> tensors_;
};

// The names that a folder gives to members of its configuration.
struct DecoderKeys {
  // The epsilon of layer norms; empty: norms are of the root mean square.
  std::string_view layer_norm = {};
  std::string_view rope_base = "rope_theta";
  // The base itself; 0: the configuration says it.
  double base = 0.0;
  // The size of a feed-forward part; empty: the caller says it.
  std::string_view feed_forward = "intermediate_size";
  // Elements of a head; 0: the configuration says it.
  int64_t head_size = 0;
  // Elements of a head of values; empty: as many as of one of keys.
  std::string_view value_size = {};
  // The key of the share of each head that rotates; empty: all of it rotates.
  std::string_view rotated_part = {};
  // The key of the number of elements of each head that rotate; empty: see
  // rotated_part.
  std::string_view rotated_size = {};
  // Files say that all of each head rotates, whatever does.
  bool count_whole = false;
  // The object that describes rotary embeddings where the folder has none, as
  // JSON.
  std::string_view default_rope = "{}";
};

// Sizes of a decoder, and its rotary embeddings.
void add_decoder(Description& model, const DecoderKeys& keys = {});
// All sizes but those of rotary embeddings and the number of key/value heads.
void add_decoder_sizes(Description& model, const DecoderKeys& keys = {});
// The base and rope_scaling, or rope_parameters of newer folders. Throws
// RC_E_UNSUPPORTED naming a type that is not known.
void add_rope(Description& model, const DecoderKeys& keys = {});
// The same of an object that describes them.
void add_rope(Description& model, const Config& object,
              const DecoderKeys& keys);
// The same of heads of `size` elements and, in layers with a window, of
// `windowed_size`, of which the former may be "proportional": the frequencies
// are those of whole heads, and the slower ones do not turn.
void add_proportional_rope(Description& model, int64_t size,
                           int64_t windowed_size);
// Throws RC_E_UNSUPPORTED if an object that describes rotary embeddings asks
// for any scaling.
void expect_plain_rope(const Config& rope);
// sliding_window, unless it is null.
void add_window(Description& model);
// Of each layer in layer_types whether it is full_attention; the others are
// `other`. Nothing if there is no such member. Throws RC_E_UNSUPPORTED naming
// another type.
std::optional<std::vector<bool>> find_full_layers(const Config& config,
                                                  std::string_view other);
// Throws RC_E_FORMAT unless the list under `key` has a member for each layer.
void expect_layer_members(const Config& config, std::string_view key,
                          size_t count);
// Which layers see only a window: layer_types, or sliding_window_pattern of
// older folders: of so many layers the last one sees all.
void add_window_layers(Description& model);

// The names that a folder gives to the numbers of its experts.
struct ExpertKeys {
  std::string_view count = "num_experts";
  std::string_view used = "num_experts_per_tok";
  std::string_view size = "moe_intermediate_size";
};
void add_experts(Description& model, const ExpertKeys& keys = {});
// Whether the shares of the chosen ones are divided by their sum:
// norm_topk_prob, false where it is absent.
void add_normalized(Description& model);
// Groups that experts are chosen from: n_group and topk_group.
void add_expert_groups(Description& model);
// Experts from some layer on that are chosen by the sum of a sigmoid and a
// bias, in addition to shared ones.
void add_selected_experts(Description& model);
// Returns the number of dense layers at the beginning, from mlp_layer_types or
// first_k_dense_replace. Throws RC_E_UNSUPPORTED if a dense layer follows one
// with experts.
int64_t dense_layers(const Config& config);

// The number under the first of two names that is there; throws if neither is.
int64_t first_int(const Config& config, std::string_view key,
                  std::string_view other);
// Elements of a head.
int64_t head_size(const Config& config);
int64_t layer_count(const Config& config);

// These throw RC_E_UNSUPPORTED naming the member and its value if a folder asks
// for something that models of its type are computed without.
void expect_text(const Config& config, std::string_view key,
                 std::initializer_list<std::string_view> known);
// The function of feed-forward parts: nothing is added for one of `usual`,
// which are names of the same one.
void add_activation(Description& model, std::string_view key,
                    std::initializer_list<std::string_view> usual);
void expect_number(const Config& config, std::string_view key, double value);
void expect_flag(const Config& config, std::string_view key, bool value);
// Null, or absent.
void expect_none(const Config& config, std::string_view key);
// All layers have experts.
void expect_experts_everywhere(const Config& config);
// No layer sees only a window.
void expect_no_window(const Config& config);

}  // namespace rc::folder
