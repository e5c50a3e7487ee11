#include "model/patient_util.h"

#include <algorithm>

#include "base/error.h"
#include "test_data.h"

namespace rc::test {

Patient::Patient(const std::string& name)
    : original_(gguf::File::open(
          source_path("tests/golden/architectures/" + name + ".gguf")
              .string())) {
  for (const gguf::Entry& entry : original_->entries()) {
    entries_.emplace_back(
        entry.key, [&entry](gguf::Writer& writer) { writer.add(entry); });
  }
  for (const gguf::Tensor& tensor : original_->tensors()) {
    tensors_.push_back({std::string(tensor.name), tensor.dtype, tensor.shape,
                        original_->read(tensor)});
  }
}

void Patient::write(const std::string& key, Write write) {
  for (auto& [name, old] : entries_) {
    if (name != key) continue;
    old = std::move(write);
    return;
  }
  entries_.emplace_back(key, std::move(write));
}

void Patient::drop(const std::string& key) {
  if (std::erase_if(entries_, [&](const auto& entry) {
        return entry.first == key;
      }) == 0) {
    fail(RC_E_NOT_FOUND, key);
  }
}

Patient::Tensor& Patient::tensor(const std::string& name) {
  for (Tensor& tensor : tensors_) {
    if (tensor.name == name) return tensor;
  }
  fail(RC_E_NOT_FOUND, name);
}

void Patient::drop_tensor(const std::string& name) {
  tensor(name);
  std::erase_if(tensors_, [&](const Tensor& t) { return t.name == name; });
}

std::shared_ptr<const gguf::File> Patient::file() const {
  gguf::Writer writer;
  for (const auto& [key, write] : entries_) write(writer);
  for (const Tensor& tensor : tensors_) {
    writer.add_tensor(tensor.name, tensor.dtype, tensor.shape,
                      std::span<const std::byte>(tensor.data));
  }
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  return gguf::File::from_memory(bytes, *bytes, "patient.gguf");
}

}  // namespace rc::test
