#include "files/gguf/parts.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/quote.h"
#include "files/gguf/writer.h"

namespace rc::gguf {
namespace {

constexpr const char* kNumber = "split.no";
constexpr const char* kCount = "split.count";
constexpr const char* kTensors = "split.tensors.count";

// The end of the name of a part, counted from 0: "-00001-of-00003.gguf".
std::string ending_of(int64_t part, int64_t count) {
  const auto digits = [](int64_t number) {
    const std::string text = std::to_string(number);
    return std::string(5 - text.size(), '0') + text;
  };
  return cat("-", digits(part + 1), "-of-", digits(count), ".gguf");
}

// The tensors of all parts, one behind the other as in one file.
class PartsSource : public Source {
 public:
  explicit PartsSource(std::vector<std::shared_ptr<const File>> parts)
      : parts_(std::move(parts)) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto& files = parts_[i]->identity()->files;
      identity_.files.insert(identity_.files.end(), files.begin(), files.end());
      for (const Tensor& tensor : parts_[i]->tensors()) {
        homes_.push_back({i, &tensor});
      }
    }
  }

  // Behind a header of so many bytes, each tensor aligned as Writer does. To be
  // called once.
  void place(uint64_t header_bytes, uint64_t alignment, uint64_t size) {
    uint64_t offset = header_bytes;
    for (const Part& home : homes_) {
      offsets_.push_back(offset);
      offset = *checked_align(offset + home.tensor->bytes, alignment);
    }
    size_ = size;
  }

  uint64_t size() const override { return size_; }
  const Identity& identity() const override { return identity_; }
  void read(uint64_t offset, std::span<std::byte> target,
            const std::string& /*what*/) const override {
    const size_t i = tensor_at(offset);
    const Part& home = homes_[i];
    parts_[home.file]->read(*home.tensor, offset - offsets_[i], target);
  }
  void check_unchanged() const override {
    for (const auto& part : parts_) part->check_unchanged();
  }
  std::vector<std::shared_ptr<const OpenFile>> files() const override {
    std::vector<std::shared_ptr<const OpenFile>> files;
    for (const auto& part : parts_) {
      files.push_back(part->source()->files().front());
    }
    return files;
  }
  Home home(uint64_t offset) const override {
    const Part& home = homes_[tensor_at(offset)];
    return {home.file, home.tensor->offset};
  }

 private:
  struct Part {
    size_t file;
    const Tensor* tensor;
  };

  size_t tensor_at(uint64_t offset) const {
    const auto next =
        std::upper_bound(offsets_.begin(), offsets_.end(), offset);
    return static_cast<size_t>(next - offsets_.begin() - 1);
  }

  const std::vector<std::shared_ptr<const File>> parts_;
  Identity identity_;
  std::vector<Part> homes_;
  std::vector<uint64_t> offsets_;
  uint64_t size_ = 0;
};

// The beginning of the names of all parts.
std::string stem_of(const File& part, int64_t count) {
  const int64_t number = part.get_int(kNumber);
  if (number < 0 || number >= count) {
    fail(RC_E_FORMAT, part.name(), ": ", kNumber, " is ", number, "; with a ",
         kCount, " of ", count, ", 0 to ", count - 1, " are possible");
  }
  const std::string ending = ending_of(number, count);
  if (!part.name().ends_with(ending)) {
    fail(RC_E_FORMAT, part.name(), ": it is part ", number + 1, " of ", count,
         " of a model; its name must end with ", ending,
         " for the others to be found");
  }
  return part.name().substr(0, part.name().size() - ending.size());
}

void expect(const File& part, const char* key, int64_t wanted,
            const File& first) {
  const int64_t value = part.get_int(key);
  if (value == wanted) return;
  fail(RC_E_FORMAT, part.name(), ": ", key, " is ", value, ", not ", wanted,
       " as ", first.name(), " and its place say; it belongs to another model");
}

// Each entry of a later part must equal that of the first.
void check_entries(const File& part, const File& first) {
  for (const Entry& entry : part.entries()) {
    if (entry.key.starts_with("split.")) continue;
    const Entry* other = first.find(entry.key);
    if (other != nullptr && other->type == entry.type &&
        other->element_type == entry.element_type &&
        std::ranges::equal(other->bytes, entry.bytes)) {
      continue;
    }
    fail(RC_E_FORMAT, part.name(), ": key ", quote(entry.key),
         other == nullptr ? " is not in " : " has another value in ",
         first.name(), "; it belongs to another model");
  }
}

std::vector<std::shared_ptr<const File>> open_parts(
    std::shared_ptr<const File> given, int64_t count) {
  const std::string stem = stem_of(*given, count);
  std::vector<std::shared_ptr<const File>> parts;
  for (int64_t i = 0; i < count; ++i) {
    const std::string path = stem + ending_of(i, count);
    if (path == given->name()) {
      parts.push_back(given);
    } else if (is_there(path)) {
      parts.push_back(File::open(path));
    } else {
      fail(RC_E_NOT_FOUND, path, ": part ", i + 1, " of ", count,
           " is missing, which belongs to ", given->name());
    }
    const File& part = *parts.back();
    const File& first = *parts.front();
    expect(part, kNumber, i, first);
    expect(part, kCount, count, first);
    expect(part, kTensors, first.get_int(kTensors), first);
    if (i > 0) check_entries(part, first);
    if (part.alignment() != first.alignment()) {
      fail(RC_E_FORMAT, part.name(), ": its tensors are aligned to ",
           part.alignment(), " bytes, those of ", first.name(), " to ",
           first.alignment(), "; it belongs to another model");
    }
  }
  return parts;
}

void check_tensors(const std::vector<std::shared_ptr<const File>>& parts) {
  std::map<std::string_view, const File*> homes;
  for (const auto& part : parts) {
    for (const Tensor& tensor : part->tensors()) {
      const auto [other, added] = homes.emplace(tensor.name, part.get());
      if (!added) {
        fail(RC_E_FORMAT, other->second->name(), " and ", part->name(),
             " both hold tensor ", quote(tensor.name));
      }
    }
  }
  const int64_t promised = parts.front()->get_int(kTensors);
  if (std::cmp_not_equal(promised, homes.size())) {
    fail(RC_E_FORMAT, parts.front()->name(), ": ", kTensors, " is ", promised,
         ", but its ", parts.size(), " parts hold ", homes.size());
  }
  if (homes.size() > kMaxTensors) {
    fail(RC_E_FORMAT, parts.front()->name(), ": its parts hold ", homes.size(),
         " tensors; at most ", kMaxTensors, " are possible");
  }
}

}  // namespace

std::shared_ptr<const File> join_parts(std::shared_ptr<const File> part) {
  const int64_t count = part->find_int(kCount).value_or(0);
  if (count == 0 || count == 1) return part;
  if (count < 0 || count > kMaxParts) {
    fail(RC_E_FORMAT, part->name(), ": ", kCount, " is ", count, "; 0 to ",
         kMaxParts, " are possible");
  }
  auto parts = open_parts(std::move(part), count);
  check_tensors(parts);
  const std::shared_ptr<const File> first = parts.front();
  const auto alignment = static_cast<uint32_t>(first->alignment());
  Writer writer(alignment);
  for (const Entry& entry : first->entries()) {
    if (entry.key != "general.alignment" && !entry.key.starts_with("split.")) {
      writer.add(entry);
    }
  }
  for (const auto& file : parts) {
    for (const Tensor& tensor : file->tensors()) {
      writer.add_tensor(tensor.name, tensor.dtype, tensor.shape,
                        Writer::Producer());
    }
  }
  auto header = std::make_shared<std::vector<std::byte>>(writer.header());
  const auto source = std::make_shared<PartsSource>(std::move(parts));
  source->place(header->size(), alignment, writer.size());
  return File::from_header(std::move(header), source, first->name());
}

}  // namespace rc::gguf
