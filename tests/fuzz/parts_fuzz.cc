// Two hostile parts of a GGUF file: the size of the first in two bytes, and
// both. They are accepted or refused with a status, and what was accepted can
// be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "files/gguf/mapped_tensors.h"
#include "files/gguf/parts.h"
#include "files/gguf/verify.h"
#include "small_stack.h"
#include "temporary.h"

namespace {

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
            error.status() == RC_E_UNSUPPORTED ||
            error.status() == RC_E_NOT_FOUND);
    require(!error.message().empty());
  }
}

void run_input(const uint8_t* data, size_t size) {
  if (size < 2) return;
  static const rc::test::TemporaryFolder folder;
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t first_size = std::min(data[0] + size_t{256} * data[1], size - 2);
  const auto first = folder.path() / "m-00001-of-00002.gguf";
  std::ofstream(first, std::ios::binary) << rest.substr(0, first_size);
  std::ofstream(folder.path() / "m-00002-of-00002.gguf", std::ios::binary)
      << rest.substr(first_size);
  may_refuse([&] {
    const auto file =
        rc::gguf::join_parts(rc::gguf::File::open(first.string()));
    may_refuse([&] { rc::gguf::verify(*file); });
    const rc::gguf::MappedTensors mapped(file, /*guarded=*/false);
    for (const auto& tensor : file->tensors()) {
      const auto bytes = file->read(tensor);
      require(std::equal(bytes.begin(), bytes.end(), mapped.data(tensor)));
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
