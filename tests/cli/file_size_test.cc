// Every file that the command writes, where files may not be so large.
#include <filesystem>

#include "cli/command.h"
#include "file_size_limit.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

TEST(CommandFileSize, ExceedingTheSizeLimitNamesTheFile) {
  const TemporaryFolder folder;
  const std::string to = folder.path() / "to.gguf";
  const std::vector<std::vector<std::string>> commands = {
      {"convert", source_path("tests/golden/folders/llama").string(), "-o", to},
      {"quantize", model(), to, "Q8_0"},
      {"run", model(), "-p", "x", "-n", "2", "--raw-logits", to}};
  for (const std::vector<std::string>& arguments : commands) {
    Outcome outcome;
    {
      const FileSizeLimit limit(2048);
      outcome = run(arguments);
    }
    EXPECT_GT(outcome.code, 0) << arguments[0];
    EXPECT_LT(outcome.code, 128) << arguments[0] << ": a signal ended it";
    EXPECT_NE(outcome.err.find(to), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("File too large"), std::string::npos)
        << outcome.err;
    fs::remove(to);
    EXPECT_TRUE(fs::is_empty(folder.path())) << arguments[0];
  }
}

}  // namespace
}  // namespace rc::test
