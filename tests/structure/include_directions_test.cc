// Directions of includes: a folder of the library may include those that the
// table of src/README.md lists, which are below it, never its neighbours or
// those above; backends may include the plugin ABI and the folders base and
// tensor; programs the public headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// The files of a folder, and the prefixes of the paths that they may include;
// headers without a folder are next to the file or are the system's.
struct Room {
  std::string folder;
  std::vector<std::string> sees;
};

// The words in backquotes of a text.
std::vector<std::string> words_in_backquotes(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find('`', at)) != std::string_view::npos;) {
    const size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) break;
    words.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return words;
}

// The rooms of the library, by the table of their page: | `room` | `may use` |.
// A row may name the rooms above it alone.
std::vector<Room> rooms_of_page(const fs::path& page) {
  std::vector<Room> rooms;
  std::vector<std::string> known;
  std::ifstream file(page);
  for (std::string line; std::getline(file, line);) {
    const size_t second = line.find('|', 1);
    const size_t third = line.find('|', second + 1);
    if (!line.starts_with("| `") || third == std::string::npos) continue;
    const auto names = words_in_backquotes(line.substr(0, second));
    if (names.size() != 1) continue;
    const fs::path folder = page.parent_path() / names[0];
    if (!fs::is_directory(folder)) continue;
    Room room{"src/" + names[0], {"runcible/"}};
    const bool library = names[0] != "cli" && names[0] != "probe";
    if (library) room.sees.push_back(names[0] + "/");
    for (const std::string& used :
         words_in_backquotes(line.substr(second, third - second))) {
      if (std::find(known.begin(), known.end(), used) == known.end()) {
        ADD_FAILURE() << page << ": " << names[0] << " may use " << used
                      << ", which is not below it";
      }
      room.sees.push_back(used + "/");
    }
    if (library) known.push_back(names[0]);
    rooms.push_back(std::move(room));
  }
  return rooms;
}

std::vector<Room> rooms() {
  std::vector<Room> rooms =
      rooms_of_page(fs::path(RC_SOURCE_DIR) / "src/README.md");
  for (Room& room : rooms) {
    // The tables of the backends that are linked in.
    if (room.folder == "src/runtime") {
      room.sees.insert(room.sees.end(), {"cpu/plugin.h", "reference/plugin.h",
                                         "webgpu/plugin.h"});
    }
  }
  for (const char* backend :
       {"blas", "common", "cpu", "cuda", "formats", "gpu", "opencl",
        "reference", "rocm", "streams", "vulkan", "webgpu"}) {
    rooms.push_back(
        {std::string("backends/") + backend,
         {std::string(backend) + "/", "common/", "runcible/plugin.h",
          "runcible/plugin_ops.h", "runcible/plugin_tensor_ops.h",
          "runcible/types.h", "runcible/base.h", "base/", "tensor/"}});
    Room& room = rooms.back();
    const std::string_view name = backend;
    // What drivers have in common, and their host.
    if (name == "cuda" || name == "rocm") room.sees.emplace_back("streams/");
    if (name == "cuda" || name == "opencl" || name == "rocm" ||
        name == "streams" || name == "vulkan" || name == "webgpu") {
      room.sees.emplace_back("gpu/");
    }
  }
  // A driver for tests sees what those of the backends see.
  rooms.push_back(
      {"tests/host_driver/module",
       {"gpu/", "common/", "runcible/", "base/", "tensor/", "sanitizer/"}});
  rooms.push_back({"examples", {"runcible/"}});
  rooms.push_back({"include/runcible", {"runcible/"}});
  return rooms;
}

// Returns the path that a line includes; empty if none.
std::string included(const std::string& line) {
  const size_t begin = line.find_first_of("<\"");
  if (line.rfind("#include", 0) != 0 || begin == std::string::npos) return {};
  const size_t end = line.find_first_of(">\"", begin + 1);
  return line.substr(begin + 1, end - begin - 1);
}

bool sees(const Room& room, const std::string& header) {
  // Headers of the system, such as sys/stat.h, or of a library.
  static const std::vector<std::string> kOutside = {
      "sys/", "linux/", "nlohmann/", "CLI/",    "vulkan/vulkan.h",
      "CL/",  "asm/",   "curl/",     "toml++/", "emscripten/"};
  const auto begins = [&](const std::string& with) {
    return header.rfind(with, 0) == 0;
  };
  return header.find('/') == std::string::npos ||
         std::any_of(room.sees.begin(), room.sees.end(), begins) ||
         std::any_of(kOutside.begin(), kOutside.end(), begins);
}

// "FILE includes HEADER" for everything that is not allowed.
std::vector<std::string> wrong_includes(const fs::path& tree, size_t* files) {
  std::vector<std::string> wrong;
  for (const Room& room : rooms()) {
    if (!fs::exists(tree / room.folder)) continue;
    for (const auto& entry :
         fs::recursive_directory_iterator(tree / room.folder)) {
      const std::string suffix = entry.path().extension().string();
      if (suffix != ".h" && suffix != ".cc" && suffix != ".c") continue;
      ++*files;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        const std::string header = included(line);
        if (header.empty() || sees(room, header)) continue;
        wrong.push_back(fs::relative(entry.path(), tree).string() +
                        " includes " + header);
      }
    }
  }
  return wrong;
}

TEST(IncludeDirections, IncludesPointToLowerLayers) {
  size_t files = 0;
  const std::vector<std::string> wrong = wrong_includes(RC_SOURCE_DIR, &files);
  EXPECT_GT(files, 300u);
  for (const std::string& one : wrong) ADD_FAILURE() << one;
}

// Every folder of src has its row, but `web`, which is parts of other rooms.
TEST(IncludeDirections, PageNamesEveryFolder) {
  const fs::path source = fs::path(RC_SOURCE_DIR) / "src";
  std::vector<std::string> named;
  for (const Room& room : rooms_of_page(source / "README.md")) {
    named.push_back(fs::path(room.folder).filename().string());
  }
  std::vector<std::string> there;
  for (const auto& entry : fs::directory_iterator(source)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "web") there.push_back(name);
  }
  std::sort(named.begin(), named.end());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(named, there);
}

// The files that the page names are there.
TEST(IncludeDirections, PageNamesExistingFiles) {
  const fs::path source = fs::path(RC_SOURCE_DIR) / "src";
  std::ifstream file(source / "README.md");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t count = 0;
  for (const std::string& name : words_in_backquotes(text)) {
    if (name.find('/') == std::string::npos) continue;
    ++count;
    EXPECT_TRUE(fs::exists(source / name) ||
                fs::exists(fs::path(RC_SOURCE_DIR) / name) ||
                fs::exists(fs::path(RC_SOURCE_DIR) / "include" / name))
        << name;
  }
  EXPECT_GT(count, 20u);
}

TEST(IncludeDirections, WrongIncludeIsFound) {
  const auto plant = [](const char* path, const char* header) {
    const TemporaryFolder tree;
    const fs::path file = tree.path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#pragma once\n\n#include \"" << header << "\"\n";
    size_t files = 0;
    const std::vector<std::string> wrong = wrong_includes(tree.path(), &files);
    EXPECT_EQ(files, 1u) << path;
    return !wrong.empty();
  };
  EXPECT_TRUE(plant("src/base/planted.h", "tensor/dtype.h"));
  EXPECT_TRUE(plant("src/model/planted.cc", "engine/engine.h"));
  EXPECT_TRUE(plant("src/model/planted.cc", "compute/tensor.h"));
  EXPECT_TRUE(plant("src/engine/deep/planted.h", "api/model.h"));
  EXPECT_TRUE(plant("src/runtime/planted.cc", "cpu/kernels.h"));
  EXPECT_TRUE(plant("src/cli/planted.cc", "base/error.h"));
  EXPECT_TRUE(plant("backends/cpu/planted.h", "reference/program.h"));
  EXPECT_TRUE(plant("backends/vulkan/planted.h", "runtime/device.h"));
  EXPECT_TRUE(plant("backends/gpu/planted.h", "vulkan/vulkan_device.h"));
  EXPECT_TRUE(plant("tests/host_driver/module/planted.h", "runtime/device.h"));
  EXPECT_TRUE(plant("include/runcible/planted.h", "base/error.h"));
  EXPECT_FALSE(plant("src/model/planted.cc", "files/gguf/file.h"));
  EXPECT_FALSE(plant("backends/cpu/planted.h", "tensor/dtype.h"));
}

// A value of nlohmann's type allocates memory while it is destroyed, so that a
// failed allocation would end the process. These use the parser's events only.
TEST(IncludeDirections, LibraryCreatesNoNlohmannValues) {
  const std::vector<std::string> allowed = {"src/base/json_value.cc",
                                            "src/files/safetensors/header.cc",
                                            "src/files/safetensors/shards.cc"};
  const fs::path tree = RC_SOURCE_DIR;
  std::vector<std::string> found;
  for (const char* folder : {"src", "backends"}) {
    for (const auto& entry : fs::recursive_directory_iterator(tree / folder)) {
      const std::string path = fs::relative(entry.path(), tree).string();
      if (!entry.is_regular_file() || path.starts_with("src/cli/")) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (!included(line).starts_with("nlohmann/")) continue;
        found.push_back(path);
      }
    }
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, allowed);
}

}  // namespace
}  // namespace rc::test
