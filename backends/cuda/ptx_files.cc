#include "cuda/ptx_files.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <string>

// The file that write_ptx.cc writes: of each kernel a line with its name and
// definitions, one with the bytes of its text, and the text.
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

std::string_view take_line(std::string_view* rest) {
  const size_t end = rest->find('\n');
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end + 1);
  return line;
}

std::map<std::string_view, std::string_view> index() {
  std::map<std::string_view, std::string_view> files;
  std::string_view rest(rc_cuda_ptx,
                        static_cast<size_t>(rc_cuda_ptx_end - rc_cuda_ptx));
  while (!rest.empty()) {
    const std::string_view name = take_line(&rest);
    const std::string_view digits = take_line(&rest);
    size_t bytes = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    files.emplace(name, rest.substr(0, bytes));
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
