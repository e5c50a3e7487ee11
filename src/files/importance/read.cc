#include "files/importance/read.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/open_file.h"
#include "base/quote.h"
#include "files/gguf/file.h"

namespace rc::importance {
namespace {

constexpr std::string_view kSums = ".in_sum2";
constexpr std::string_view kCounts = ".counts";
// Of the older form, which is read at once. Files of models with hundreds of
// experts take some hundreds of MiB.
constexpr uint64_t kLargestFile = uint64_t{4} << 30;
constexpr uint32_t kLongestName = 1024;  // bytes

void check_value(const std::string& file, std::string_view name, float value) {
  if (std::isfinite(value) && value >= 0) return;
  fail(RC_E_FORMAT, file, ": the importance of ", quote(name), " holds ", value,
       "; values must be finite and not negative");
}

std::vector<float> floats_of(const gguf::File& file,
                             const gguf::Tensor& tensor) {
  if (tensor.dtype != RC_DTYPE_F32) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", quote(tensor.name), " is ",
         dtype_name(tensor.dtype), "; importance is F32");
  }
  std::vector<float> values(tensor.bytes / sizeof(float));
  file.read(tensor, 0, std::as_writable_bytes(std::span(values)));
  return values;
}

// The means of a matrix: sums over counts.
std::vector<float> means_of(const gguf::File& file,
                            const gguf::Tensor& sums_tensor,
                            std::string_view name) {
  const std::string counts_name = std::string(name) + std::string(kCounts);
  const gguf::Tensor* counts_tensor = file.find_tensor(counts_name);
  if (counts_tensor == nullptr) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", quote(sums_tensor.name),
         " has no counts; there must be a tensor ", quote(counts_name));
  }
  std::vector<float> values = floats_of(file, sums_tensor);
  const std::vector<float> counts = floats_of(file, *counts_tensor);
  const auto columns = static_cast<size_t>(sums_tensor.shape.back());
  if (counts.size() != values.size() / columns) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", quote(counts_name), " has ",
         counts.size(), " counts for the ", values.size() / columns,
         " rows of ", quote(sums_tensor.name));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const float count = counts[i / columns];
    check_value(file.name(), name, count);
    check_value(file.name(), name, values[i]);
    values[i] = count > 0 ? values[i] / count : 0.0f;
    check_value(file.name(), name, values[i]);
  }
  return values;
}

Importance read_gguf(const std::string& path) {
  const std::shared_ptr<const gguf::File> file = gguf::File::open(path);
  const auto type = file->find_string("general.type");
  if (type != "imatrix") {
    fail(RC_E_FORMAT, path, ": general.type is ",
         type ? quote(*type) : std::string("missing"),
         ", not 'imatrix': this is no importance file");
  }
  Importance result;
  result.file = path;
  if (const auto datasets = file->find_strings("imatrix.datasets")) {
    for (const std::string_view dataset : *datasets) {
      if (!result.dataset.empty()) result.dataset += ", ";
      result.dataset += dataset;
    }
  }
  result.chunks = file->find_int("imatrix.chunk_count").value_or(0);
  if (result.chunks < 0 || result.chunks > UINT32_MAX) {
    fail(RC_E_FORMAT, path, ": imatrix.chunk_count is ", result.chunks,
         ", which cannot be");
  }
  for (const gguf::Tensor& tensor : file->tensors()) {
    if (!tensor.name.ends_with(kSums)) continue;
    const std::string_view name =
        tensor.name.substr(0, tensor.name.size() - kSums.size());
    result.values.emplace(name, means_of(*file, tensor, name));
  }
  return result;
}

// The older form, from its first byte on.
class Reader {
 public:
  Reader(const std::string& file, std::span<const std::byte> bytes)
      : file_(file), bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }

  uint32_t count(const std::string& what, uint32_t most) {
    int32_t value = 0;
    take(&value, sizeof value, what);
    if (value < 0 || static_cast<uint32_t>(value) > most) {
      fail(RC_E_FORMAT, file_, ": ", what, " is ", value, "; 0 to ", most,
           " are possible");
    }
    return static_cast<uint32_t>(value);
  }

  std::string text(const std::string& what) {
    std::string result(count("the length of " + what, kLongestName), '\0');
    take(result.data(), result.size(), what);
    if (!is_utf8(result)) fail(RC_E_FORMAT, file_, ": ", what, " is no UTF-8");
    return result;
  }

  std::vector<float> floats(uint32_t count, const std::string& what) {
    const uint64_t size = uint64_t{count} * sizeof(float);
    if (size > bytes_.size() - at_) cut(what);
    std::vector<float> result(count);
    take(result.data(), size, what);
    return result;
  }

 private:
  [[noreturn]] void cut(const std::string& what) const {
    fail(RC_E_FORMAT, file_, ": the file ends within ", what,
         "; it is cut short, or no importance file");
  }
  void take(void* to, uint64_t size, const std::string& what) {
    if (size > bytes_.size() - at_) cut(what);
    if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }

  const std::string& file_;
  const std::span<const std::byte> bytes_;
  uint64_t at_ = 0;
};

Importance read_older(const std::string& path,
                      std::span<const std::byte> bytes) {
  Importance result;
  result.file = path;
  Reader reader(path, bytes);
  const uint32_t entries =
      reader.count("the number of entries", gguf::kMaxTensors);
  for (uint32_t i = 0; i < entries; ++i) {
    const std::string name = reader.text(cat("the name of entry ", i));
    const uint32_t calls =
        reader.count("the number of calls of " + quote(name), INT32_MAX);
    const uint32_t count =
        reader.count("the number of values of " + quote(name), INT32_MAX);
    if (count == 0)
      fail(RC_E_FORMAT, path, ": ", quote(name), " has no values");
    std::vector<float> values =
        reader.floats(count, "the values of " + quote(name));
    for (float& value : values) {
      if (calls > 0) value /= static_cast<float>(calls);
      check_value(path, name, value);
    }
    if (!result.values.emplace(name, std::move(values)).second) {
      fail(RC_E_FORMAT, path, ": ", quote(name), " is there twice");
    }
  }
  if (!reader.at_end()) {
    result.chunks = reader.count("the number of chunks", INT32_MAX);
    result.dataset = reader.text("the name of the text");
  }
  return result;
}

}  // namespace

Importance read(const std::string& path) {
  const std::shared_ptr<const OpenFile> opened = OpenFile::open(path);
  const OpenFile& file = *opened;
  char magic[4] = {};
  const uint64_t size = file.size();
  if (size >= sizeof magic) {
    file.read(0, std::as_writable_bytes(std::span(magic)), "its first bytes");
  }
  Importance result;
  if (std::memcmp(magic, "GGUF", sizeof magic) == 0) {
    result = read_gguf(path);
  } else {
    if (size > kLargestFile) {
      fail(RC_E_FORMAT, path, ": of ", size, " bytes; importance files have ",
           kLargestFile, " at most");
    }
    std::vector<std::byte> bytes(size);
    file.read(0, bytes, "its content");
    result = read_older(path, bytes);
  }
  if (result.values.empty()) {
    fail(RC_E_FORMAT, path, ": there is no importance of any matrix in it");
  }
  return result;
}

}  // namespace rc::importance
