#include "cuda/ptx_files.h"

#include <cstdint>
#include <map>
#include <string>

#include "base/words.h"

// The file that write_ptx.cc writes: of each kernel a line with the bytes of
// its text, its name and its definitions, and the text.
__asm__(
    ".section .rodata\n"
    ".global rc_cuda_ptx\n"
    ".hidden rc_cuda_ptx\n"
    "rc_cuda_ptx:\n"
    ".incbin \"" RC_CUDA_PTX
    "\"\n"
    ".global rc_cuda_ptx_end\n"
    ".hidden rc_cuda_ptx_end\n"
    "rc_cuda_ptx_end:\n"
    ".byte 0\n"
    ".text\n");
extern "C" const char rc_cuda_ptx[];
extern "C" const char rc_cuda_ptx_end[];

namespace rc::cuda {
namespace {

std::map<std::string_view, std::string_view> index() {
  std::map<std::string_view, std::string_view> files;
  std::string_view rest(rc_cuda_ptx,
                        static_cast<size_t>(rc_cuda_ptx_end - rc_cuda_ptx));
  while (auto title = take_line(rest)) {
    const size_t bytes = *take_number<size_t>(*title);
    title->remove_prefix(1);
    files.emplace(*title, rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  return files;
}

}  // namespace

std::string_view ptx_of(std::string_view kernel, std::string_view definitions) {
  static const auto files = index();
  std::string name(kernel);
  name += ' ';
  name += definitions;
  const auto found = files.find(name);
  return found != files.end() ? found->second : std::string_view();
}

}  // namespace rc::cuda
