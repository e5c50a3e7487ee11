// The pages of the backends contain only messages of the sources, every message
// for a missing backend, and every environment variable.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace rc::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The sources of a folder, with the literals that were cut at the end of a line
// made whole again.
std::string sources_of(const fs::path& folder) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string suffix = entry.path().extension().string();
    if (suffix == ".cc" || suffix == ".h") text += read(entry.path());
  }
  static const std::regex cut("\"\\s*\\n\\s*\"");
  return std::regex_replace(text, cut, "");
}

std::vector<std::string> matches(const std::string& text,
                                 const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end;
       at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

// Returns the fixed parts of a message, without its values: "..." and words in
// capitals.
std::vector<std::string> fixed_parts(const std::string& message) {
  static const std::regex value(
      "\\.\\.\\.| ?\\b[A-Z]\\b( MB)?| ?\\b[A-Z]{4,}\\b ?|"
      "\"|\\b(vk\\b|CL_\\w+|VK_\\w+)");
  std::vector<std::string> parts;
  for (std::sregex_token_iterator at(message.begin(), message.end(), value, -1),
       end;
       at != end; ++at) {
    std::string part = *at;
    while (!part.empty() && part.back() == ' ') part.pop_back();
    while (!part.empty() && part.front() == ' ') part.erase(0, 1);
    if (part.size() >= 4) parts.push_back(part);
  }
  return parts;
}

class BackendPages : public testing::TestWithParam<const char*> {
 protected:
  const fs::path backends_ = fs::path(RC_SOURCE_DIR) / "backends";
  const std::string page_ = read(backends_ / GetParam() / "README.md");
  const std::string own_ = sources_of(backends_ / GetParam());
};

TEST_P(BackendPages, MessagesAreInTheSources) {
  const std::string sources =
      sources_of(backends_) +
      sources_of(fs::path(RC_SOURCE_DIR) / "src" / "runtime");
  const size_t begin = page_.find("## Troubleshoot");
  ASSERT_NE(begin, std::string::npos);
  size_t messages = 0;
  for (const std::string& cell :
       matches(page_.substr(begin), "(?:^|\n)\\| (`[^|]*) \\|")) {
    for (const std::string& message : matches(cell, "`([^`]*)`")) {
      ++messages;
      for (const std::string& part : fixed_parts(message)) {
        EXPECT_NE(sources.find(part), std::string::npos)
            << "\"" << part << "\" of the message \"" << message
            << "\" is in no source";
      }
    }
  }
  EXPECT_GE(messages, 8u);
}

TEST_P(BackendPages, ContainEveryReasonForAMissingDevice) {
  for (const std::string& message :
       matches(own_, "RC_E_BACKEND_UNAVAILABLE,\\s*\"([^\"]{8,})\"")) {
    const std::string part = message.substr(0, message.find(';'));
    const std::string begin = part.substr(0, part.find_last_not_of(' ') + 1);
    EXPECT_NE(page_.find(begin), std::string::npos)
        << "the page does not contain \"" << message << "\"";
  }
}

TEST_P(BackendPages, ContainEveryVariable) {
  for (const std::string& variable : matches(own_, "\"(RUNCIBLE_[A-Z_]+)\"")) {
    EXPECT_NE(page_.find("`" + variable), std::string::npos) << variable;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BackendPages,
                         testing::Values("blas", "cpu", "cuda", "opencl",
                                         "rocm", "vulkan", "webgpu"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace rc::test
