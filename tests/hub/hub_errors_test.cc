// Answers of a hub that are refused, with the message that fetching ends with,
// and the nearest that are taken.
#include <gtest/gtest.h>

#include <string>

#include "hub/fake_hub.h"

namespace rc::test {
namespace {

class HubErrors : public testing::Test {
 protected:
  void SetUp() override { RC_SKIP_WITHOUT_LIBCURL(); }
  HubErrors() { hub_.put("m.gguf", noise(3000, 1)); }
  // Makes this the answer about the repository; empty: what the hub says.
  void describe(const std::string& body) {
    hub_.set_fault([body](const Asked& asked, bool, Reply* reply) {
      if (!body.empty() && asked.path.starts_with("/api/")) reply->body = body;
    });
  }
  FakeHub hub_;
  const HubEnvironment environment_{hub_.address()};
};

TEST_F(HubErrors, InvalidDescriptionsAreRefused) {
  const std::string commit(40, 'a');
  const std::string none = ": the hub's description of it is none: ";
  const auto refuse = [&](const std::string& body, const std::string& why,
                          const std::string& revision = "") {
    describe(body);
    expect_fetch_error(quick_request("hf:o/m" + revision), RC_E_FORMAT,
                       "hf:o/m" + revision + none + why);
  };
  for (const std::string sha :
       {"", "\"sha\":1,",
        "\"sha\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",",
        "\"sha\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaA\","}) {
    refuse("{" + sha + "\"siblings\":[]}", "it names no commit");
  }
  for (const std::string siblings : {"", ",\"siblings\":{}"}) {
    refuse("{\"sha\":\"" + commit + "\"" + siblings + "}", "it lists no files");
  }
  refuse("{\"sha\":\"" + std::string(40, 'b') + "\",\"siblings\":[]}",
         "it is that of another commit", "@" + commit);
  describe("");
  EXPECT_EQ(content_of_file(hub::fetch(quick_request("hf:o/m@" + commit))),
            hub_.content("m.gguf"));
}

TEST_F(HubErrors, SizeAndChecksumAreChecked) {
  const std::string sum = sha256(hub_.content("m.gguf"));
  const auto lists = [](const std::string& rest) {
    return "{\"sha\":\"" + std::string(40, 'a') +
           "\",\"siblings\":[{\"rfilename\":\"m.gguf\"" + rest + "}]}";
  };
  const auto lfs = [&](const std::string& members) {
    return lists(",\"lfs\":{" + members + "}");
  };
  const std::string id = ",\"blobId\":\"" + std::string(40, 'a') + "\"";
  for (const std::string& body :
       {lists(""), lists(id), lists(",\"size\":3000"),
        lists(",\"size\":3000,\"blobId\":\"" + std::string(39, 'a') + "\""),
        lists(id + ",\"size\":\"3000\""), lists(id + ",\"size\":-1"),
        lists(id + ",\"size\":3000.5"), lists(id + ",\"size\":8796093022208"),
        lfs("\"size\":3000"), lfs("\"sha256\":\"" + sum + "\""),
        lfs("\"size\":3000,\"sha256\":\"" + sum.substr(1) + "\""),
        lfs("\"size\":3000,\"sha256\":\"" + sum.substr(1) + "G\"")}) {
    describe(body);
    expect_fetch_error(quick_request("hf:o/m"), RC_E_FORMAT,
                       "hf:o/m: the hub does not say size and checksum of "
                       "'m.gguf'");
  }
  describe(lfs("\"size\":3000,\"sha256\":\"" + sum + "\""));
  EXPECT_EQ(content_of_file(hub::fetch(quick_request("hf:o/m"))),
            hub_.content("m.gguf"));
}

TEST_F(HubErrors, SeveralFilesCannotBeWrittenToOne) {
  FakeHub hub;
  const HubEnvironment environment(hub.address());
  hub.put("config.json", "{}", false);
  hub.put("model.safetensors", noise(100, 2));
  hub::FetchRequest request = quick_request("hf:o/m");
  request.to = environment.home() + "/file";
  expect_fetch_error(
      request, RC_E_INVALID_ARGUMENT,
      "hf:o/m: these are 2 files, which do not become one; fetch "
      "them into the cache instead");
  request.source = "hf:o/m:model.safetensors";
  EXPECT_EQ(hub::fetch(request), request.to);
  EXPECT_EQ(content_of_file(request.to), hub.content("model.safetensors"));
}

TEST_F(HubErrors, WrongContentErrorNamesBothChecksums) {
  const std::string other = noise(3000, 2);
  hub_.send_instead("m.gguf", other);
  expect_fetch_error(
      quick_request("hf:o/m"), RC_E_FORMAT,
      "hf:o/m:'m.gguf': what " + hub_.address() + "/o/m/resolve/" +
          hub_.commit() + "/m.gguf sent is not the file: its SHA-256 is " +
          sha256(other) + ", and should be " + sha256(hub_.content("m.gguf")));
  hub_.put("x.txt", "right", false);
  hub_.send_instead("x.txt", "wrong");
  expect_fetch_error(
      quick_request("hf:o/m:x.txt"), RC_E_FORMAT,
      "hf:o/m:'x.txt': what " + hub_.address() + "/o/m/resolve/" +
          hub_.commit() + "/x.txt sent is not the file: its SHA-1 is " +
          git_sha1("wrong") + ", and should be " + git_sha1("right"));
  hub_.send_instead("x.txt", "right");
  EXPECT_EQ(content_of_file(hub::fetch(quick_request("hf:o/m:x.txt"))),
            "right");
}

}  // namespace
}  // namespace rc::test
