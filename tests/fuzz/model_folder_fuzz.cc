// Whatever config.json says: the folder is accepted or refused with a status,
// and what was accepted can be read. The other files are those of one of
// tests/golden/quantized, by the scheme that the input has, or of
// tests/golden/folders, by its model_type.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/folder/model_folder.h"
#include "files/gguf/verify.h"
#include "small_stack.h"
#include "temporary.h"
#include "test_data.h"

namespace {

namespace fs = std::filesystem;

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

class Folders {
 public:
  Folders() {
    for (const char* from : {"quantized", "folders"}) {
      for (const auto& entry : fs::directory_iterator(
               rc::test::source_path("tests/golden") / from)) {
        if (!entry.is_directory()) continue;
        fs::copy(entry.path(), root_.path() / entry.path().filename());
        names_.push_back(entry.path().filename());
      }
      require(!names_.empty());
    }
  }
  fs::path with(std::string_view config) const {
    for (const std::string& name : names_) {
      if (config.find('"' + name + '"') != config.npos) {
        return root_.path() / name;
      }
    }
    return root_.path() / names_.front();
  }

 private:
  rc::test::TemporaryFolder root_;
  std::vector<std::string> names_;
};

void run_input(const uint8_t* data, size_t size) {
  static const Folders folders;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fs::path folder = folders.with(text);
  std::ofstream(folder / "config.json", std::ios::binary) << text;
  may_refuse([&] {
    const auto file = rc::folder::open_folder(folder.string());
    may_refuse([&] { rc::gguf::verify(*file); });
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
