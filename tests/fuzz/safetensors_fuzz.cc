// Whatever the bytes are: the reader of safetensors accepts or refuses them
// with a status, and what it accepted can be read. So too the bytes as an
// index.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/safetensors/file.h"
#include "files/safetensors/shards.h"
#include "small_stack.h"
#include "temporary.h"

namespace {

using namespace rc::safetensors;

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
  for (const Tensor& tensor : file.tensors()) {
    require(file.find(tensor.name) == &tensor);
    std::vector<std::byte> data(tensor.bytes);
    file.read(tensor, 0, data);
  }
}

void run_input(const uint8_t* data, size_t size) {
  static const rc::test::TemporaryFolder folder;
  const std::string path = folder.path() / "input.safetensors";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::ofstream(path, std::ios::binary) << text;
  may_refuse([&] { read_everything(*File::open(rc::OpenFile::open(path))); });
  may_refuse([&] {
    Shards::of_index(text, "index", [](const std::string& name) {
      rc::fail(RC_E_FORMAT, name, ": no such file");
      return std::shared_ptr<const rc::OpenFile>();
    });
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
