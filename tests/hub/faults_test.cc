// Whatever goes wrong on the way, a file is right in the end, or it is not
// there and an error says why.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "hub/cache.h"
#include "hub/fake_hub.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// One fault of an answer, by chance.
void spoil(std::mt19937& random, bool cdn, Reply* reply) {
  const auto below = [&](size_t most) {
    return static_cast<int64_t>(random() % (most + 1));
  };
  switch (random() % 14) {
    case 0:
      reply->cut_after = below(reply->body.size());
      break;
    case 1:
      reply->stall_after = below(reply->body.size());
      break;
    case 2:
      reply->status = 500 + static_cast<int>(random() % 5);
      break;
    case 3:
      *reply = {429, {{"Retry-After", "0"}}, "slow down", -1, -1};
      break;
    case 4:  // the whole in place of a range
      reply->status = reply->status == 206 ? 200 : 206;
      break;
    case 5:
      for (auto& [name, value] : reply->headers) {
        if (name == "Content-Range") {
          value = "bytes " + std::to_string(below(60000)) + "-" +
                  std::to_string(below(60000)) + "/" +
                  std::to_string(below(60000));
        }
      }
      break;
    case 6:  // another byte
      if (!reply->body.empty()) {
        reply->body[static_cast<size_t>(below(reply->body.size() - 1))] ^= 1;
      }
      break;
    case 7:
      reply->body += "more than was asked for";
      break;
    case 8:
      reply->body = reply->body.substr(0, reply->body.size() / 2);
      break;
    case 9:
      reply->headers.emplace_back("Content-Length",
                                  std::to_string(below(100000)));
      break;
    case 10:
      *reply = {302, {{"Location", cdn ? "/elsewhere" : "//"}}, "", -1, -1};
      break;
    case 11:
      *reply = {307, {{"Location", "https://127.0.0.1:1/"}}, "", -1, -1};
      break;
    case 12:
      *reply = {403, {}, "", -1, -1};
      break;
    case 13:
      reply->headers.clear();
      break;
  }
}

TEST(Faults, FiveHundredRandomFaultsLeaveACorrectCache) {
  RC_SKIP_WITHOUT_LIBCURL();
  FakeHub hub;
  const HubEnvironment environment(hub.address());
  hub.put("m-Q8_0.gguf", noise(50000, 1));
  hub.put("m-Q4_0.gguf", noise(12345, 2));
  hub.put("config.json", "{\"model_type\": \"none\"}", false);
  std::mt19937 random(20260801);
  std::mt19937 rarities(1);  // the server's threads use the other one
  std::atomic<int> faults{0};
  std::map<std::string, int> ends;
  const char* const sources[] = {"hf:o/m:m-Q8_0.gguf", "hf:o/m:m-Q4_0.gguf",
                                 "hf:o/m:config.json"};
  for (int run = 0; faults < 500; ++run) {
    SCOPED_TRACE(run);
    // From seldom to always.
    const unsigned rarity = 1 + rarities() % 6;
    hub.set_fault([&, rarity](const Asked&, bool cdn, Reply* reply) {
      if (random() % rarity != 0) return;
      ++faults;
      spoil(random, cdn, reply);
    });
    const std::string name =
        std::string(sources[run % 3]).substr(std::string("hf:o/m:").size());
    const std::string source = sources[run % 3];
    hub::FetchRequest request = quick_request(source);
    request.manner.limits.stall = std::chrono::milliseconds(30);
    std::string path;
    try {
      path = hub::fetch(request);
      ++ends["fetched"];
    } catch (const Error& error) {
      ++ends[rc_status_name(error.status())];
      EXPECT_NE(error.message().find("o/m"), std::string::npos)
          << error.message();
      EXPECT_EQ(error.message().find("s3cret"), std::string::npos)
          << error.message();
      EXPECT_GT(error.message().size(), 20u);
    }
    // A file under its final name is correct, and other files are absent.
    if (!path.empty()) {
      EXPECT_EQ(content_of_file(path), hub.content(name));
    }
    const fs::path folder = environment.cache() + "/models--o--m";
    if (fs::exists(folder / "blobs")) {
      for (const auto& entry : fs::directory_iterator(folder / "blobs")) {
        const std::string blob = entry.path().filename();
        if (blob.ends_with(".incomplete")) continue;
        const std::string content = content_of_file(entry.path());
        EXPECT_EQ(blob,
                  blob.size() == 64 ? sha256(content) : git_sha1(content));
      }
    }
    // Every other time it goes on with what is there.
    if (!path.empty() || run % 2 == 0) fs::remove_all(folder);
  }
  // With a good server what is left over is gone on with.
  hub.set_fault({});
  for (const char* source : sources) {
    const std::string name =
        std::string(source).substr(std::string("hf:o/m:").size());
    EXPECT_EQ(content_of_file(hub::fetch(quick_request(source))),
              hub.content(name));
  }
  for (const auto& [end, times] : ends) {
    std::printf("%s: %d\n", end.c_str(), times);
    RecordProperty(end, times);
  }
  EXPECT_GE(ends["fetched"], 10);
  EXPECT_GE(ends["RC_E_IO"], 10);
}

}  // namespace
}  // namespace rc::test
