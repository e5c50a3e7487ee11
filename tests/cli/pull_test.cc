// Fetching, listing and removing by the command, from a hub on loopback.
#include "cli/command.h"
#include "hub/fake_hub.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

class CommandPull : public testing::Test {
 protected:
  void SetUp() override { RC_SKIP_WITHOUT_LIBCURL(); }
  CommandPull() { hub_.put("m-F32.gguf", content_of_file(model())); }

  fs::path snapshot() const {
    return fs::path(environment_.cache()) / "models--o--m/snapshots" /
           hub_.commit();
  }

  FakeHub hub_;
  const HubEnvironment environment_{hub_.address()};
  const TemporaryFolder folder_;
};

TEST_F(CommandPull, PulledModelRunsAndCanBeRemoved) {
  expect_failure(run({"run", "hf:o/m", "-p", "x"}), 3, "runcible pull hf:o/m");
  const Outcome pulled = run({"pull", "hf:o/m"});
  EXPECT_EQ(pulled.code, 0) << pulled.err;
  EXPECT_EQ(pulled.err, "");  // no terminal
  EXPECT_EQ(pulled.out, (snapshot() / "m-F32.gguf").string() + "\n");
  const std::vector<std::string> rest = {
      "-n", "4", "--temp", "0", "--prompt-tokens", "1,2"};
  std::vector<std::string> here = {"run", model()};
  std::vector<std::string> there = {"run", "hf:o/m:F32"};
  here.insert(here.end(), rest.begin(), rest.end());
  there.insert(there.end(), rest.begin(), rest.end());
  const Outcome ran = run(there);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, run(here).out);
  const std::string list = run({"models"}).out;
  for (const char* part : {"hf:o/m  ", "(main)", "m-F32.gguf"}) {
    EXPECT_NE(list.find(part), std::string::npos) << list;
  }
  EXPECT_NE(run({"models", "--json"}).out.find("\"hf:o/m\""),
            std::string::npos);
  EXPECT_NE(run({"models", "remove", "hf:o/m"}).out.find("removed"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(snapshot()));
  EXPECT_EQ(run({"models"}).out, "");
  expect_failure(run({"models", "remove", "hf:o/m"}), 3, "hf:o/m");
  expect_failure(run({"models", "remove"}), 2, "which model");
}

TEST_F(CommandPull, WritesToAFile) {
  const std::string to = folder_.path() / "mine.gguf";
  EXPECT_EQ(run({"pull", "hf:o/m", "--to", to}).out, to + "\n");
  EXPECT_EQ(content_of_file(to), content_of_file(model()));
  const Server server(
      [&](const Asked& asked) { return answer_file(asked, "abc", "\"one\""); });
  expect_failure(run({"pull", server.address() + "/x", "--to", to}), 3,
                 "--force");
  EXPECT_EQ(content_of_file(to), content_of_file(model()));
  EXPECT_EQ(run({"pull", server.address() + "/x", "--to", to, "--force"}).code,
            0);
  EXPECT_EQ(content_of_file(to), "abc");
  expect_failure(run({"pull", server.address()}), 2, "--to");
  expect_failure(run({"pull", "model.gguf"}), 2, "hf:OWNER/NAME");
  expect_failure(run({"pull", "hf:o/none"}), 3, "404");
}

TEST_F(CommandPull, WithoutLibcurlNamesThePackageToInstall) {
  const TemporaryVariable library("RUNCIBLE_CURL_LIBRARY", "/no/libcurl.so");
  expect_failure(run({"pull", "hf:o/m"}), 5, "install the package libcurl4");
  // Nothing else needs it.
  EXPECT_EQ(run({"models"}).code, 0);
}

TEST_F(CommandPull, CtrlCKeepsThePartialDownload) {
  std::atomic<bool> stalled{false};
  hub_.set_fault([&](const Asked&, bool cdn, Reply* reply) {
    if (!cdn || reply->body.empty()) return;
    reply->stall_after = static_cast<int64_t>(reply->body.size() / 2);
    stalled = true;
  });
  Process process({"pull", "hf:o/m"});
  while (!stalled) usleep(1000);
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("kept for the next time"), std::string::npos);
  EXPECT_FALSE(fs::exists(snapshot()));
  hub_.set_fault({});
  EXPECT_EQ(run({"pull", "hf:o/m"}).code, 0);
}

}  // namespace
}  // namespace rc::test
