#include "files/folder/model_folder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "files/folder/architecture.h"
#include "files/folder/folder.h"
#include "files/folder/pooling.h"
#include "files/folder/quantization.h"
#include "files/folder/text_metadata.h"

namespace rc::folder {
namespace {

constexpr uint64_t kMaxConfigBytes = uint64_t{4} << 20;

constexpr const char* kTied = "tie_word_embeddings";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

// The data of the tensors of a folder, one behind the other as in a file.
class FolderSource : public gguf::Source {
 public:
  FolderSource(Folder folder, safetensors::Shards shards,
               std::vector<TensorView> views)
      : folder_(std::move(folder)),
        identity_(folder_.identity()),
        shards_(std::move(shards)),
        views_(std::move(views)) {}

  // Behind a header of so many bytes, each tensor aligned as Writer does. To be
  // called once.
  void place(uint64_t header_bytes, uint64_t size) {
    uint64_t offset = header_bytes;
    for (const TensorView& view : views_) {
      offsets_.push_back(offset);
      offset = *checked_align(offset + view.bytes(), gguf::kDefaultAlignment);
    }
    size_ = size;
  }

  uint64_t size() const override { return size_; }
  const Identity& identity() const override { return identity_; }

  // Within one tensor.
  void read(uint64_t offset, std::span<std::byte> target,
            const std::string& /*what*/) const override {
    const auto next =
        std::upper_bound(offsets_.begin(), offsets_.end(), offset);
    const auto i = static_cast<size_t>(next - offsets_.begin() - 1);
    views_[i].read(offset - offsets_[i], target);
  }
  void check_unchanged() const override {
    for (const auto& file : folder_.opened()) file->check_unchanged();
  }

 private:
  const Folder folder_;
  const Identity identity_;
  const safetensors::Shards shards_;
  const std::vector<TensorView> views_;
  std::vector<uint64_t> offsets_;
  uint64_t size_ = 0;
};

Config read_config(Folder& folder) {
  const auto file = folder.find("config.json");
  if (file == nullptr) {
    fail(RC_E_IO, folder.path(),
         ": is a directory without config.json, so no model is in it; name a "
         "file in it, or a folder as transformers writes them");
  }
  return Config::parse(Folder::read(*file, kMaxConfigBytes), file->path());
}

safetensors::Shards open_weights(Folder& folder) {
  if (auto file = folder.find(kWeights)) {
    return safetensors::Shards::of_file(std::move(file));
  }
  const auto index = folder.find(kIndex);
  if (index == nullptr) {
    fail(RC_E_NOT_FOUND, folder.path(), ": it holds neither ", kWeights,
         " nor ", kIndex,
         "; weights in other forms can be saved again as safetensors with "
         "transformers");
  }
  return safetensors::Shards::of_index(
      Folder::read(*index, safetensors::kMaxIndexBytes), index->path(),
      [&](const std::string& name) { return folder.open(name); });
}

// Returns whether the output's weights are the embeddings. Newer folders say it
// outside of the part that is read; then the part's own value counts only if
// there are no other weights.
bool is_tied(const Config& whole, const Config& part) {
  return whole.find_flag(kTied).value_or(part.find_flag(kTied).value_or(true));
}

bool have_same_data(const TensorView& one, const TensorView& other) {
  constexpr uint64_t kPart = uint64_t{1} << 20;
  if (one.dtype != other.dtype || one.shape != other.shape) return false;
  std::vector<std::byte> a;
  std::vector<std::byte> b;
  for (uint64_t offset = 0; offset < one.bytes(); offset += kPart) {
    a.resize(std::min(kPart, one.bytes() - offset));
    b.resize(a.size());
    one.read(offset, a);
    other.read(offset, b);
    if (a != b) return false;
  }
  return true;
}

// Takes away the output's weights where they are the embeddings once more.
// config.json may be wrong about that: weights that differ stay, as in
// transformers from 5.0 on. `said`: what the part says.
void settle_output(const Config& config, bool tied, std::optional<bool> said,
                   bool pooled, std::vector<TensorView>& views) {
  const auto find = [&](std::string_view name) {
    return std::ranges::find(views, name, &TensorView::name);
  };
  const auto output = find("output.weight");
  const auto table = find("token_embd.weight");
  if (tied && output != views.end() && table != views.end() &&
      have_same_data(*output, *table)) {
    views.erase(output);
    return;
  }
  if (!tied && !pooled && said != true && output == views.end()) {
    config.refuse(
        RC_E_FORMAT, kTied,
        " is false, but no tensor is output.weight, such as lm_head.weight");
  }
}

// The last part of the path, without slashes behind it.
std::string name_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash != path.npos) path.remove_prefix(slash + 1);
  return is_utf8(path) ? std::string(path) : "";
}

}  // namespace

std::shared_ptr<const gguf::File> open_folder(const std::string& path) {
  Folder folder(path);
  const Config whole = read_config(folder);
  const Architecture& architecture = find_architecture(whole);
  Config config = whole;
  if (!architecture.part.empty()) {
    auto part = whole.find_object(architecture.part);
    if (part) {
      config = *std::move(part);
      config.add_defaults(
          cat(R"({"model_type": ")", architecture.model_type, "\"}"));
    }
  }
  for (const Alias& alias : architecture.aliases) {
    config.add_alias(alias.from, alias.to);
  }
  const std::optional<bool> tied = config.find_flag(kTied);
  config.add_defaults(architecture.defaults);
  safetensors::Shards shards = open_weights(folder);
  expand_quantized(whole, shards);

  gguf::Writer writer;
  writer.add("general.architecture", architecture.name);
  writer.add("general.type", "model");
  writer.add("general.name", name_of(path));
  Description description(config, whole, architecture.name,
                          architecture.whole_yarn_pairs, writer);
  architecture.describe(description);
  if (architecture.describe_tensors != nullptr) {
    architecture.describe_tensors(description, shards);
  }
  const bool pooled = add_pooling(config, folder, description, writer);
  add_text_metadata(whole, folder, writer);

  std::vector<TensorView> views =
      apply_rules(config, shards, architecture.renames, architecture.rules);
  if (!architecture.gives_hidden_rows) {
    settle_output(config, is_tied(whole, config), tied, pooled, views);
  }
  for (TensorView& made : description.take_tensors()) {
    views.push_back(std::move(made));
  }
  if (views.size() > gguf::kMaxTensors) {
    fail(RC_E_FORMAT, path, ": it holds ", views.size(), " tensors; at most ",
         gguf::kMaxTensors, " are possible");
  }
  for (const TensorView& view : views) {
    writer.add_tensor(view.name, view.dtype, view.shape,
                      gguf::Writer::Producer());
  }
  auto header = std::make_shared<std::vector<std::byte>>(writer.header());
  const auto source = std::make_shared<FolderSource>(
      std::move(folder), std::move(shards), std::move(views));
  source->place(header->size(), writer.size());
  return gguf::File::from_header(std::move(header), source, path);
}

}  // namespace rc::folder
