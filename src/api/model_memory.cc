#include "api/model_memory.h"

#include <utility>
#include <vector>

#include "api/guard.h"
#include "api/options.h"
#include "base/error.h"

namespace rc::api {
namespace {

constexpr rc_model_memory kMemoryDefaults = RC_MODEL_MEMORY_INIT;

class NoData : public gguf::Source {
 public:
  NoData(uint64_t size, std::string name)
      : size_(size), name_(std::move(name)) {}
  uint64_t size() const override { return size_; }
  void read(uint64_t /*offset*/, std::span<std::byte> /*target*/,
            const std::string& what) const override {
    fail(RC_E_IO, name_, ": ", what, " is no longer in memory");
  }
  void check_unchanged() const override {}
  const Identity& identity() const override { return identity_; }

 private:
  const uint64_t size_;
  const std::string name_;
  const Identity identity_;
};

}  // namespace

ModelMemory::ModelMemory(const rc_model_memory* memory) {
  need_pointer(memory, "memory");
  const rc_model_memory given = read_options(memory, kMemoryDefaults, "memory");
  if (given.release != nullptr) {
    // If there is no memory to note it in, it is released here already.
    lent_ = std::shared_ptr<const void>(
        given.data, [release = given.release, user = given.user](const void*) {
          release(user);
        });
  }
  need_pointer(given.data, "memory->data");
  if (given.size > PTRDIFF_MAX) {
    fail(RC_E_INVALID_ARGUMENT, "memory->size: ", given.size,
         " bytes are more than memory can hold");
  }
  bytes_ = {static_cast<const std::byte*>(given.data),
            static_cast<size_t>(given.size)};
  name_ = given.name == nullptr || *given.name == '\0' ? "memory" : given.name;
}

std::shared_ptr<const gguf::File> ModelMemory::open(
    std::shared_ptr<const void> owner, std::span<const std::byte> bytes) const {
  auto file = gguf::File::from_memory(std::move(owner), bytes, name_);
  const int64_t parts = file->find_int("split.count").value_or(0);
  if (parts > 1) {
    fail(RC_E_UNSUPPORTED, name_, ": it is one of ", parts,
         " files of a model; in memory a model has to be one file (runcible "
         "convert makes one of them)");
  }
  return file;
}

std::shared_ptr<const gguf::File> ModelMemory::look() const {
  return open(lent_, bytes_);
}

ModelMemory ModelMemory::kept() const {
  ModelMemory made = *this;
  if (lent_ != nullptr) return made;
  const auto copy = std::make_shared<const std::vector<std::byte>>(
      bytes_.begin(), bytes_.end());
  made.lent_ = copy;
  made.bytes_ = *copy;
  return made;
}

std::shared_ptr<const gguf::File> without_data(const gguf::File& file) {
  const auto header =
      std::make_shared<const std::vector<std::byte>>(file.header());
  return gguf::File::from_header(
      header, std::make_shared<NoData>(file.size(), file.name()), file.name());
}

}  // namespace rc::api

void rc_model_memory_init(rc_model_memory* memory, size_t size) {
  rc::api::initialise(memory, size, rc::api::kMemoryDefaults);
}
