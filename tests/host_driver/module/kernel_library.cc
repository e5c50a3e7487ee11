#include "kernel_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/error.h"

extern char** environ;

namespace rc::host {
namespace {

namespace fs = std::filesystem;

constexpr char kEntry[] = "rc_host_kernel";

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// FNV-1a.
uint64_t hash_of(const std::string& text, uint64_t hash) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash;
}

// Returns the hash of all sources that kernels may include: a change of them
// recompiles all kernels.
uint64_t hash_of_sources() {
  std::vector<fs::path> paths;
  for (const char* folder : {RC_HOST_KERNELS, RC_HOST_PRELUDE}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string kind = entry.path().extension().string();
      if (kind == ".cl" || kind == ".h") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  uint64_t hash = 0xCBF29CE484222325;
  for (const fs::path& path : paths) hash = hash_of(content_of(path), hash);
  return hash_of(content_of(RC_HOST_FORMATS "/formats.cl"), hash);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// Its exit status; what it says goes to the file.
int status_of(const std::vector<std::string>& command, const fs::path& said) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, said.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int code =
      posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  if (code != 0 || waitpid(child, &status, 0) != child) {
    fail(RC_E_DEVICE, "cannot run ", words[0]);
  }
  return status;
}

std::string source_of(const std::string& text, const std::string& name) {
  return cat("#include \"work_item.h\"\nnamespace {\n",
             "#include \"prelude_host.h\"\n", text, "\n}\n",
             "extern \"C\" int ", kEntry,
             "(HostWorkItem* item, const unsigned long* arguments,\n",
             "    int count) {\n  return call_(", name,
             ", item, arguments, count);\n}\n");
}

// Compiles a kernel. Several processes may make the same one: each uses its own
// names first.
void compile(const std::string& name, const std::string& source,
             const std::vector<std::string>& definitions,
             const fs::path& object) {
  static std::atomic<int> count{0};
  const auto own = [number = cat(getpid(), ".", count++),
                    &object](const char* kind) {
    return fs::path(object).replace_extension(cat(number, kind));
  };
  fs::create_directories(object.parent_path());
  const fs::path source_path = own(".cc");
  const fs::path said = own(".txt");
  const fs::path made = own(".so");
  std::ofstream(source_path) << source;
  // The process has the libraries that kernels call; not searching for them
  // halves the time. Warnings are for OpenCL's compilers.
  std::vector<std::string> command = words_of(
      "-std=c++20 -O0 -g1 -w -Wno-narrowing -shared -nostdlib -fPIC "
      "-fsigned-char -fwrapv "
      "-ffp-contract=off -fno-exceptions");
  command.insert(command.begin(), RC_HOST_COMPILER);
  for (const char* folder :
       {RC_HOST_PRELUDE, RC_HOST_KERNELS, RC_HOST_FORMATS}) {
    command.push_back(cat("-I", folder));
  }
  const std::vector<std::string> sanitize = words_of(RC_HOST_SANITIZE);
  command.insert(command.end(), sanitize.begin(), sanitize.end());
  command.insert(command.end(), definitions.begin(), definitions.end());
  command.insert(command.end(), {source_path.string(), "-o", made.string()});
  const int status = status_of(command, said);
  const std::string words = content_of(said);
  fs::remove(said);
  if (status != 0) {
    fs::remove(source_path);
    fail(RC_E_DEVICE, "the compiler does not take the kernel ", name, ": ",
         words);
  }
  fs::rename(source_path, fs::path(object).replace_extension(".cc"));
  fs::rename(made, object);
}

}  // namespace

void KernelLibrary::Close::operator()(void* object) const { dlclose(object); }

HostKernel* KernelLibrary::kernel(const std::string& text,
                                  const std::string& name,
                                  const std::string& definitions) {
  static const uint64_t sources =
      hash_of(RC_HOST_COMPILER RC_HOST_SANITIZE, hash_of_sources());
  const std::string source = source_of(text, name);
  std::ostringstream hash;
  hash << std::hex << hash_of(source + definitions, sources);
  const fs::path object =
      fs::path(RC_HOST_CACHE) / cat(name, ".", hash.str(), ".so");
  auto& loaded = objects_[object.string()];
  if (loaded == nullptr) {
    if (!fs::exists(object)) {
      compile(name, source, words_of(definitions), object);
    }
    loaded.reset(dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (loaded == nullptr) {
      fail(RC_E_DEVICE, "cannot load the kernel ", name, ": ", dlerror());
    }
  }
  auto* found = reinterpret_cast<HostKernel*>(dlsym(loaded.get(), kEntry));
  if (found == nullptr) {
    fail(RC_E_DEVICE, "the kernel ", name, " has no entry: ", dlerror());
  }
  return found;
}

}  // namespace rc::host
