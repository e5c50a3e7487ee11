// Compiles the kernels to PTX, with Clang, when the module is built:
//
//   write_ptx CLANG VERSION CACHE OUTPUT FOLDER...
//
// VERSION: of Clang. FOLDER...: where the kernels include files from. CACHE
// keeps what was compiled from the same sources with the same definitions.
// ptx_files.cc says what OUTPUT contains. Each text begins with a comment, the
// kernel and all its definitions.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cuda/variants.h"

namespace rc::cuda {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& content) {
  const fs::path unfinished = cat(path.string(), ".new");
  std::ofstream file(unfinished, std::ios::binary);
  file << content;
  file.close();
  if (!file) fail(RC_E_IO, "cannot write ", unfinished.string());
  fs::rename(unfinished, path);
}

// FNV-1a.
uint64_t hash_of(const std::string& text, uint64_t hash) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash;
}

// The text as one word of a shell's command.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

class Writer {
 public:
  Writer(const std::string& clang, const std::string& version, fs::path cache,
         std::vector<std::string> folders)
      : cache_(std::move(cache)) {
    fs::create_directories(cache_);
    // Sums of products are not contracted unless a kernel says so.
    command_ = cat(shell_word(clang),
                   " -x cl -cl-std=CL1.2 -cl-no-stdinc -w -O3"
                   " -target nvptx64-nvidia-cuda -nogpulib"
                   " -Xclang -target-feature -Xclang +ptx63"
                   " -ffp-contract=off -DFAST_FMA");
    hash_ = hash_of(command_ + version, 0xCBF29CE484222325);
    std::vector<fs::path> sources;
    for (const std::string& folder : folders) {
      command_ += " -I" + shell_word(folder);
      for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".cl") sources.push_back(entry.path());
      }
    }
    std::sort(sources.begin(), sources.end(),
              [](const fs::path& a, const fs::path& b) {
                return a.filename() < b.filename();
              });
    for (const fs::path& source : sources) {
      hash_ = hash_of(content_of(source), hash_);
    }
  }

  // The PTX of a kernel.
  std::string ptx(const Compilation& one) const {
    const std::string name = gpu::kernel_name(one.kernel);
    std::string definitions = one.definitions;
    std::string open;
    for (const std::string& constant : one.open_names) {
      definitions += cat(" '-D", constant, "=OPEN_CONSTANT(", constant, ")'");
      open += cat(" -D", constant, "=RC_OPEN_", constant);
    }
    definitions +=
        cat(" -DSLICED=1 -DGROUP_ROOM=", kGroupRoom, " -DHEAD_ROOM=", kHeadRoom,
            " -DVALUE_ROOM=", kHeadRoom, " -DRESULTS_ROOM=", kResultsRoom,
            " -DSTATE_ROOM=", kStateRoom, " -DWIDTH_ROOM=", kWidthRoom,
            " -DEXPERT_GROUPS_ROOM=", kExpertGroupsRoom);
    definitions +=
        cat(" -march=sm_", one.capability,
            one.capability >= kOfTensorCores ? " -DTENSOR_CORES" : "");
    std::ostringstream hash;
    hash << std::hex << hash_of(name + definitions, hash_);
    const fs::path made = cache_ / cat(name, ".", hash.str(), ".ptx");
    if (!fs::exists(made)) compile(name, definitions, made);
    return cat("// ", name, ' ', one.definitions, open, '\n',
               finished(content_of(made), one));
  }

 private:
  void compile(const std::string& name, const std::string& definitions,
               const fs::path& made) const {
    // Several builds may make the same one: each uses its own names first.
    const fs::path own = cat(made.string(), ".", std::random_device()());
    const fs::path source = cat(own.string(), ".cl");
    write(source,
          cat("#include \"prelude_ptx.cl\"\n#include \"", name, ".cl\"\n"));
    const fs::path unfinished = cat(own.string(), ".ptx");
    const std::string line =
        cat(command_, ' ', definitions, " -S ", shell_word(source.string()),
            " -o ", shell_word(unfinished.string()));
    if (std::system(line.c_str()) != 0) {
      fail(RC_E_INTERNAL, "failed: ", line);
    }
    fs::rename(unfinished, made);
    fs::remove(source);
  }

  // Without comments and empty lines, and with the size of groups.
  static std::string finished(const std::string& text, const Compilation& one) {
    const bool is_open = std::find(one.open_names.begin(), one.open_names.end(),
                                   "GROUP_ITEMS") != one.open_names.end();
    std::string items = "RC_OPEN_GROUP_ITEMS";
    if (!is_open) {
      const std::string name = "-DGROUP_ITEMS=";
      const size_t begin = one.definitions.find(name) + name.size();
      items = one.definitions.substr(begin,
                                     one.definitions.find(' ', begin) - begin);
    }
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
      const size_t begin = line.find_first_not_of(" \t");
      if (begin == std::string::npos || line.compare(begin, 2, "//") == 0) {
        continue;
      }
      if (line == "{") result += cat(".reqntid ", items, ", 1, 1\n");
      result += line;
      result += '\n';
    }
    return result;
  }

  fs::path cache_;
  std::string command_;
  uint64_t hash_ = 0;
};

void run(const std::vector<std::string>& arguments) {
  const char* const cache = std::getenv("PTX_CACHE_DIR");
  const Writer writer(arguments[1], arguments[2],
                      cache != nullptr ? cache : arguments[3],
                      {arguments.begin() + 5, arguments.end()});
  const std::vector<Compilation> all = compilations();
  std::vector<std::string> texts(all.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u);
       ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < all.size() && !failed; at = next++) {
        try {
          texts[at] = writer.ptx(all[at]);
        } catch (const std::exception& error) {
          failed = true;
          std::fprintf(stderr, "write_ptx: %s\n", error.what());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed) std::exit(1);
  std::string content;
  for (size_t i = 0; i < all.size(); ++i) {
    content += cat(texts[i].size(), ' ', gpu::kernel_name(all[i].kernel), ' ',
                   all[i].definitions, '\n', texts[i]);
  }
  write(arguments[4], content);
}

}  // namespace
}  // namespace rc::cuda

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  if (arguments.size() < 6) {
    std::fprintf(stderr, "write_ptx CLANG VERSION CACHE OUTPUT FOLDER...\n");
    return 2;
  }
  try {
    rc::cuda::run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_ptx: %s\n", error.what());
    return 1;
  }
  return 0;
}
