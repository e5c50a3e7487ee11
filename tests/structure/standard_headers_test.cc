// A file includes the headers of the C++ library whose names it uses, itself or
// through headers of ours: those of one library include each other where those
// of another, or of another processor, do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// A header, and the names of namespace std that stand for it.
struct Header {
  const char* name;
  std::regex uses;
};

std::regex names(const std::string& alternatives, const char* then = "\\b") {
  return std::regex("\\bstd::(" + alternatives + ")" + then,
                    std::regex::ECMAScript | std::regex::optimize);
}

const std::vector<Header>& headers() {
  static const std::vector<Header> all = {
      {"algorithm",
       names("sort|stable_sort|min|max|clamp|fill|fill_n|copy|copy_n|find|"
             "find_if|count_if|any_of|all_of|none_of|transform|reverse|"
             "lower_bound|upper_bound|max_element|min_element|equal|"
             "nth_element|partial_sort",
             "\\s*[(<]")},
      {"array", names("array")},
      {"atomic", names("atomic")},
      {"bit", names("bit_cast|popcount|countr_zero|bit_width|has_single_bit")},
      {"chrono", names("chrono")},
      {"cmath",
       names("isnan|isinf|isfinite|pow|exp|exp2|log|log2|log1p|expm1|sqrt|"
             "fabs|floor|ceil|round|lround|llround|nearbyint|tanh|sin|cos|erf|"
             "erfc|ldexp|frexp|fma|fmod|hypot|signbit|copysign|trunc|lgamma|"
             "cbrt|atan2|nextafter|rint")},
      {"cstdlib", names("getenv|strtol|strtod|abort|malloc|aligned_alloc")},
      {"cstring", names("memcpy|memset|memcmp|memmove|strlen|strcmp|strerror|"
                        "strchr|strncmp")},
      {"functional", names("function")},
      {"limits", names("numeric_limits")},
      {"memory",
       names("unique_ptr|shared_ptr|make_unique|make_shared|weak_ptr")},
      {"mutex", names("mutex|lock_guard|unique_lock|scoped_lock")},
      {"numeric", names("accumulate|iota|inner_product|gcd|lcm")},
      {"thread", names("thread|this_thread|jthread")},
  };
  return all;
}

// The text of a file without its comments, and its includes.
struct Source {
  std::string text;
  std::set<std::string> included;
};

class Tree {
 public:
  explicit Tree(const fs::path& root) : root_(root) {
    for (const char* folder :
         {"src", "backends", "include", "tests", "bench"}) {
      if (!fs::exists(root / folder)) continue;
      for (const auto& entry :
           fs::recursive_directory_iterator(root / folder)) {
        const std::string suffix = entry.path().extension().string();
        if (suffix == ".h" || suffix == ".cc") {
          read(fs::relative(entry.path(), root));
        }
      }
    }
  }

  size_t size() const { return sources_.size(); }

  // "FILE uses std::NAME without <HEADER>" for all that do.
  std::vector<std::string> wrong() const {
    std::vector<std::string> wrong;
    for (const auto& [path, source] : sources_) {
      std::set<std::string> seen;
      std::set<std::string> reached;
      follow(path, &seen, &reached);
      for (const Header& header : headers()) {
        std::smatch use;
        if (reached.count(header.name) > 0 ||
            !std::regex_search(source.text, use, header.uses)) {
          continue;
        }
        wrong.push_back(path + " uses std::" + use[1].str() + " without <" +
                        header.name + ">");
      }
    }
    return wrong;
  }

 private:
  void read(const fs::path& path) {
    std::ifstream file(root_ / path);
    Source& source = sources_[path.generic_string()];
    for (std::string line; std::getline(file, line);) {
      const size_t begin = line.find_first_of("<\"");
      const size_t end = line.find_first_of(">\"", begin + 1);
      if (line.rfind("#include", 0) == 0 && end != std::string::npos) {
        source.included.insert(line.substr(begin + 1, end - begin - 1));
        continue;
      }
      line.resize(std::min(line.size(), line.find("//")));
      // Most lines name nothing, and expressions take long.
      if (line.find("std::") != std::string::npos) source.text += line + '\n';
    }
  }

  // Adds all that a file includes, and what that includes.
  void follow(const std::string& path, std::set<std::string>* seen,
              std::set<std::string>* reached) const {
    if (!seen->insert(path).second) return;
    for (const std::string& header : sources_.at(path).included) {
      reached->insert(header);
      const fs::path sibling = fs::path(path).parent_path();
      for (const fs::path& folder :
           {sibling, fs::path("src"), fs::path("backends"), fs::path("include"),
            fs::path("tests"), fs::path("bench")}) {
        const std::string at =
            (folder / header).lexically_normal().generic_string();
        if (sources_.count(at) == 0) continue;
        follow(at, seen, reached);
        break;
      }
    }
  }

  const fs::path root_;
  std::map<std::string, Source> sources_;
};

TEST(StandardHeaders, AreIncludedWhereTheyAreUsed) {
  const Tree tree(RC_SOURCE_DIR);
  EXPECT_GT(tree.size(), 600u);
  for (const std::string& one : tree.wrong()) ADD_FAILURE() << one;
}

TEST(StandardHeaders, MissingIncludeIsFound) {
  const TemporaryFolder tree;
  const auto plant = [&](const char* path, const char* text) {
    const fs::path file = tree.path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  plant("src/base/root.h", "#include <cmath>\n");
  plant("src/base/a.cc",
        "#include \"base/root.h\"\nx = std"
        "::sqrt(2);\n");
  plant("src/base/b.cc",
        "#include <algorithm>\nx = std"
        "::sqrt(2);\n");
  plant("src/base/c.cc",
        "// std"
        "::sqrt\n");
  EXPECT_EQ(Tree(tree.path()).wrong(),
            std::vector<std::string>{"src/base/b.cc uses std"
                                     "::sqrt without <cmath>"});
}

}  // namespace
}  // namespace rc::test
