// Whatever the bytes are: the reader accepts or refuses them with a status, and
// what it accepted can be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"
#include "files/gguf/file.h"
#include "files/gguf/verify.h"
#include "files/gguf/writer.h"
#include "small_stack.h"

namespace {

using rc::gguf::Entry;
using rc::gguf::File;
using rc::gguf::ValueType;

// Ends the process, which is how a fuzz target reports a defect.
void require(bool condition) {
  if (!condition) __builtin_trap();
}

template <class Call>
void may_refuse(const Call& call) {
  try {
    call();
  } catch (const rc::Error& error) {
    require(error.status() == RC_E_FORMAT ||
            error.status() == RC_E_UNSUPPORTED);
    require(!error.message().empty());
  }
}

void read_everything(const File& file) {
  for (const Entry& entry : file.entries()) {
    require(file.find(entry.key) == &entry);
    may_refuse([&] { file.find_int(entry.key); });
    may_refuse([&] { file.find_float(entry.key); });
    may_refuse([&] { file.find_bool(entry.key); });
    may_refuse([&] { file.find_string(entry.key); });
    may_refuse([&] { file.find_ints(entry.key); });
    may_refuse([&] { file.find_floats(entry.key); });
    may_refuse([&] { file.find_strings(entry.key); });
    may_refuse([&] { file.find_bytes(entry.key); });
  }
  for (const auto& tensor : file.tensors()) {
    require(file.find_tensor(tensor.name) == &tensor);
    require(tensor.offset + tensor.bytes <= file.size());
  }
  may_refuse([&] { rc::gguf::verify(file); });
}

// Writes the file that was read; reading it again gives the same.
void write_again(const File& file) {
  rc::gguf::Writer writer(static_cast<uint32_t>(file.alignment()));
  for (const Entry& entry : file.entries()) {
    if (entry.key != "general.alignment") writer.add(entry);
  }
  for (const auto& tensor : file.tensors()) {
    writer.add_tensor(tensor.name, tensor.dtype, tensor.shape,
                      [&](const auto& put) { put(file.read(tensor)); });
  }
  // Large alignments make files of zeros.
  if (writer.size() > (1u << 24)) return;
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  require(bytes->size() == writer.size());
  const auto again = File::from_memory(bytes, *bytes, "again");
  require(again->tensors().size() == file.tensors().size());
  for (const auto& tensor : file.tensors()) {
    const auto* copy = again->find_tensor(tensor.name);
    require(copy != nullptr && copy->dtype == tensor.dtype &&
            copy->shape == tensor.shape &&
            again->read(*copy) == file.read(tensor));
  }
  for (const Entry& entry : file.entries()) {
    if (entry.key == "general.alignment") continue;
    const Entry* copy = again->find(entry.key);
    require(copy != nullptr && copy->type == entry.type &&
            copy->element_type == entry.element_type &&
            copy->count == entry.count &&
            std::equal(copy->bytes.begin(), copy->bytes.end(),
                       entry.bytes.begin(), entry.bytes.end()));
  }
}

void run_input(const uint8_t* data, size_t size) {
  may_refuse([&] {
    const auto file = File::from_memory(
        nullptr, std::as_bytes(std::span(data, size)), "fuzz");
    read_everything(*file);
    write_again(*file);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
