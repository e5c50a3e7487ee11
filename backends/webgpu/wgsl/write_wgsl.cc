// Makes of a kernel, as naga has translated it to the WebGPU Shading Language,
// the text that the module carries, when the backend is built:
//
//   write_wgsl KERNEL TRANSLATED PREPROCESSED OUTPUT
//
// naga knows no arithmetic on specialization constants, least of all as sizes
// of arrays. So with WGSL defined (backends/gpu/kernels/glsl/common.glsl) a
// constant is a variable that is never assigned, and the size of an array a
// number by which the size is found in the preprocessed text, where SIZES was
// defined. Here the variables become constants, to be computed from constant_0,
// constant_1 and so on, which are declared with a pipeline, and the
// numbers sizes again.
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace {

// As in common.glsl: numbers of sizes, added to this, are sizes of arrays.
constexpr long kFirstSize = 7000000;
constexpr long kMostSizes = 100;

bool read(const char* path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  text->assign(std::istreambuf_iterator<char>(file), {});
  return file.good() || file.eof();
}

// Returns the text between two others in a line; "" if they are not there.
std::string between(const std::string& line, const std::string& before,
                    const std::string& after) {
  const size_t begin = line.find(before);
  if (begin == line.npos) return "";
  const size_t from = begin + before.size();
  const size_t end = line.find(after, from);
  return end == line.npos ? "" : line.substr(from, end - from);
}

// The sizes that "size_is(number, count)" gives.
std::map<long, std::string> sizes_of(const std::string& text) {
  const std::string mark = "size_is(";
  std::map<long, std::string> sizes;
  for (size_t at = text.find(mark); at != text.npos; at = text.find(mark, at)) {
    at += mark.size();
    const long number = std::stol(text.substr(at));
    const size_t begin = text.find(',', at) + 1;
    size_t end = begin;
    for (int depth = 1; end < text.size(); ++end) {
      if (text[end] == '(') ++depth;
      if (text[end] == ')' && --depth == 0) break;
    }
    sizes[kFirstSize + number] = text.substr(begin, end - begin);
  }
  return sizes;
}

// The line with the sizes of its arrays, which are at the end of "array<".
std::string with_sizes(const std::string& line,
                       const std::map<long, std::string>& sizes) {
  std::string result;
  size_t done = 0;
  for (size_t at = line.find(", "); at != line.npos; at = line.find(", ", at)) {
    at += 2;
    size_t end = at;
    while (end < line.size() && std::isdigit(line[end]) != 0) ++end;
    if (end == at || end - at > 9 || line[end] != '>') continue;
    const auto size = sizes.find(std::stol(line.substr(at, end - at)));
    if (size == sizes.end()) continue;
    result += line.substr(done, at - done) + "(" + size->second + ")";
    done = end;
  }
  return result + line.substr(done);
}

// A constant of this type from the word that is its value.
std::string constant(const std::string& name, const std::string& type,
                     const std::string& id) {
  const std::string word = "constant_" + id;
  return "const " + name + ": " + type + " = " +
         (type == "bool"  ? word + " != 0u"
          : type == "i32" ? "i32(" + word + ")"
                          : word) +
         ";\n";
}

// naga keeps the place of a work-group in variables, which are another
// for each lane to those who look whether lanes meet in barriers. So the main
// function gets it as parameters. (Its helpers have no use for it.)
constexpr const char* kGroups[] = {"gl_WorkGroupID", "gl_NumWorkGroups"};

std::string with_groups(std::string text, const std::string& each,
                        const std::string& end) {
  for (const char* name : kGroups) {
    text += (name == kGroups[0] ? "" : ", ") + (name + each);
  }
  return text + end;
}

// Whether a line declares one, or, with "", assigns it.
bool is_of_groups(const std::string& line, const std::string& before,
                  const std::string& after) {
  for (const std::string name : kGroups) {
    const std::string rest = after.empty() ? "_1 = " + name + ";" : after;
    if (line == before + name + rest) return true;
  }
  return false;
}

bool fail(const char* kernel, const std::string& what) {
  std::fprintf(stderr, "write_wgsl: %s: %s\n", kernel, what.c_str());
  return false;
}

bool translate(const char* kernel, const std::string& translated,
               const std::map<long, std::string>& sizes, std::string* result) {
  std::map<std::string, std::string> ids;  // by name
  std::set<std::string> left;              // variables that become constants
  std::istringstream lines(translated);
  for (std::string line; std::getline(lines, line);) {
    const std::string overridden = between(line, "override ", "_id: ");
    if (!overridden.empty()) {
      ids[overridden] = between(line, "@id(", ")");
      left.insert(overridden);
      continue;
    }
    const std::string name = between(line, "var<private> ", ": ");
    if (ids.count(name) != 0) {
      *result += constant(name, between(line, ": ", ";"), ids[name]);
      left.erase(name);
      continue;
    }
    // The value that it begins with.
    const std::string assigned = between(line, "    ", " = ");
    if (ids.count(assigned) != 0) {
      if (line != "    " + assigned + " = " + assigned + "_id;") {
        return fail(kernel, "the constant " + assigned + " is assigned");
      }
      continue;
    }
    if (is_of_groups(line, "var<private> ", "_1: vec3<u32>;") ||
        is_of_groups(line, "    ", "")) {
      continue;
    }
    if (line == "fn main_1() {") {
      *result += with_groups("fn main_1(", "_1: vec3<u32>", ") {\n");
      continue;
    }
    if (line == "    main_1();") {
      *result += with_groups("    main_1(", "", ");\n");
      continue;
    }
    if (line.starts_with("fn main(")) {
      *result +=
          "fn main(@builtin(local_invocation_index) "
          "gl_LocalInvocationIndex: u32, @builtin(workgroup_id) "
          "gl_WorkGroupID: vec3<u32>, @builtin(num_workgroups) "
          "gl_NumWorkGroups: vec3<u32>) {\n";
      continue;
    }
    if (line.starts_with("@compute @workgroup_size(1, 1, 1)")) {
      *result += "@compute @workgroup_size(kLanes)\n";
      continue;
    }
    *result += with_sizes(line, sizes) + "\n";
  }
  // An override that nothing but its variable needs may be left out with it.
  for (const std::string& name : left) {
    if (result->find(name + "_id") != result->npos) {
      return fail(kernel, "the constant " + name + " has no variable");
    }
  }
  for (const auto& [number, size] : sizes) {
    if (number < kFirstSize || number >= kFirstSize + kMostSizes) {
      return fail(kernel, "the number of the size " + size + " is too large");
    }
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fputs("usage: write_wgsl KERNEL TRANSLATED PREPROCESSED OUTPUT\n",
               stderr);
    return 2;
  }
  std::string translated, preprocessed, result;
  if (!read(arguments[2], &translated) || !read(arguments[3], &preprocessed)) {
    fail(arguments[1], "its files cannot be read");
    return 1;
  }
  if (!translate(arguments[1], translated, sizes_of(preprocessed), &result)) {
    return 1;
  }
  std::ofstream output(arguments[4], std::ios::binary);
  output << "R\"wgsl(" << result << ")wgsl\"\n";
  output.close();
  return output ? 0 : 1;
}
