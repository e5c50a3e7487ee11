// Models from a hub, into the cache.
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "hub/cache.h"
#include "hub/cache_list.h"
#include "hub/fake_hub.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

class ModelFetch : public testing::Test {
 protected:
  void SetUp() override { RC_SKIP_WITHOUT_LIBCURL(); }
  ModelFetch() {
    hub_.put("m-Q4_K_M.gguf", noise(30000, 1));
    hub_.put("m-Q8_0.gguf", noise(50000, 2));
    hub_.put("README.md", "# A model\n", false);
  }

  fs::path folder() const { return environment_.cache() + "/models--o--m"; }
  fs::path snapshot() const { return folder() / "snapshots" / hub_.commit(); }

  // The message of the error that fetching ends with.
  std::string failure(const hub::FetchRequest& request, rc_status status) {
    try {
      hub::fetch(request);
    } catch (const Error& error) {
      EXPECT_STREQ(rc_status_name(error.status()), rc_status_name(status))
          << error.message();
      return error.message();
    }
    ADD_FAILURE() << "it did not fail";
    return "";
  }

  FakeHub hub_;
  const HubEnvironment environment_{hub_.address()};
};

TEST_F(ModelFetch, UsesTheLayoutOfHuggingfaceHub) {
  const std::string path = hub::fetch(quick_request("hf:o/m:Q4_K_M"));
  const std::string& content = hub_.content("m-Q4_K_M.gguf");
  EXPECT_EQ(path, snapshot() / "m-Q4_K_M.gguf");
  EXPECT_EQ(content_of_file(path), content);
  EXPECT_EQ(fs::read_symlink(path), "../../blobs/" + sha256(content));
  EXPECT_EQ(content_of_file(folder() / "refs" / "main"), hub_.commit());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder() / "blobs"),
                          fs::directory_iterator()),
            1);
  EXPECT_EQ(hub::find_in_cache("hf:o/m:Q4_K_M", ""), path);
  EXPECT_EQ(hub::find_in_cache("hf:o/m", ""), path);
  EXPECT_EQ(hub::find_in_cache("hf:o/m@" + hub_.commit(), ""), path);
}

TEST_F(ModelFetch, CachedFileIsNotFetchedAgain) {
  hub::fetch(quick_request("hf:o/m:m-Q8_0.gguf"));
  const int before = hub_.requests();
  hub::fetch(quick_request("hf:o/m:m-Q8_0.gguf"));
  EXPECT_EQ(hub_.requests(), before + 1);  // what is the commit
}

TEST_F(ModelFetch, CommitsShareEqualFiles) {
  hub::fetch(quick_request("hf:o/m:Q8_0"));
  hub_.set_commit(std::string(40, 'b'));
  const int before = hub_.requests();
  hub::fetch(quick_request("hf:o/m:Q8_0"));
  EXPECT_EQ(hub_.requests(), before + 1);
  const std::vector<hub::CachedModel> models = hub::list_cache("");
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].revisions.size(), 2u);
  EXPECT_EQ(models[0].bytes, 50000u);
  EXPECT_EQ(models[0].shared_bytes, 50000u);
  // One of them goes, and frees nothing.
  EXPECT_EQ(hub::remove_from_cache("hf:o/m@" + std::string(40, 'a'), ""), 0u);
  EXPECT_EQ(content_of_file(hub::find_in_cache("hf:o/m", "")),
            hub_.content("m-Q8_0.gguf"));
}

TEST_F(ModelFetch, AmbiguousReferenceListsTheFiles) {
  const std::string message =
      failure(quick_request("hf:o/m"), RC_E_INVALID_ARGUMENT);
  for (const char* part : {"m-Q4_K_M.gguf' (30000 bytes)",
                           "m-Q8_0.gguf' (50000 bytes)", "hf:o/m:Q4_K_M"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  failure(quick_request("hf:o/m:Q5_K_M"), RC_E_NOT_FOUND);
  failure(quick_request("hf:o/m:Q4_K"), RC_E_NOT_FOUND);
  failure(quick_request("hf:o/none"), RC_E_NOT_FOUND);
  failure(quick_request("hf:o/m:Q8_0@v2"), RC_E_NOT_FOUND);
}

TEST_F(ModelFetch, FetchesAFolderOfSafetensors) {
  FakeHub hub;
  const HubEnvironment environment(hub.address());
  for (const char* name :
       {"config.json", "tokenizer.json", "model.safetensors.index.json",
        "generation_config.json", "chat_template.jinja", "train.py",
        "original/params.json"}) {
    hub.put(name, std::string("{\"of\": \"") + name + "\"}", false);
  }
  for (const char* name :
       {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
        "consolidated.safetensors", "pytorch_model.bin"}) {
    hub.put(name, noise(10000, 3));
  }
  const std::string path = hub::fetch(quick_request("hf:o/m"));
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) {
    names.insert(entry.path().filename());
    EXPECT_EQ(content_of_file(entry.path()),
              hub.content(entry.path().filename()));
  }
  EXPECT_EQ(names,
            (std::set<std::string>{
                "chat_template.jinja", "config.json", "generation_config.json",
                "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors",
                "model.safetensors.index.json", "tokenizer.json"}));
  EXPECT_EQ(hub::find_in_cache("hf:o/m", ""), path);
  // Both shards are the same bytes, which are there once.
  EXPECT_EQ(hub::list_cache("")[0].shared_bytes, 0u);
}

TEST_F(ModelFetch, FetchesAllPartsOfASplitFile) {
  hub_.put("Q6_K/m-Q6_K-00001-of-00002.gguf", noise(9000, 4));
  hub_.put("Q6_K/m-Q6_K-00002-of-00002.gguf", noise(8000, 5));
  const std::string path = hub::fetch(quick_request("hf:o/m:q6_k"));
  EXPECT_EQ(path, snapshot() / "Q6_K/m-Q6_K-00001-of-00002.gguf");
  EXPECT_EQ(content_of_file(snapshot() / "Q6_K/m-Q6_K-00002-of-00002.gguf"),
            hub_.content("Q6_K/m-Q6_K-00002-of-00002.gguf"));
  EXPECT_EQ(hub::find_in_cache("hf:o/m:Q6_K/m-Q6_K-00002-of-00002.gguf", ""),
            path);
  EXPECT_GT(hub::remove_from_cache("hf:o/m:Q6_K", ""), 0u);
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(ModelFetch, TokenIsSentToTheHubOnly) {
  hub_.set_token("hf_secret");
  std::string message = failure(quick_request("hf:o/m:Q8_0"), RC_E_IO);
  EXPECT_NE(message.find("HF_TOKEN"), std::string::npos) << message;
  const TemporaryVariable token("HF_TOKEN", "hf_secret");
  hub::fetch(quick_request("hf:o/m:Q8_0"));
  EXPECT_EQ(hub_.tokens_at_cdn(), 0);
  const TemporaryVariable wrong("HF_TOKEN", "hf_other");
  message = failure(quick_request("hf:o/m:Q4_K_M"), RC_E_IO);
  EXPECT_EQ(message.find("hf_other"), std::string::npos) << message;
  const TemporaryVariable injected("HF_TOKEN", "x\r\nHost: y");
  failure(quick_request("hf:o/m:Q4_K_M"), RC_E_INVALID_ARGUMENT);
}

TEST_F(ModelFetch, TokenIsReadFromTheFile) {
  hub_.set_token("hf_secret");
  std::ofstream(environment_.home() + "/token") << "hf_secret\n";
  hub::fetch(quick_request("hf:o/m:Q8_0"));
  const TemporaryVariable disable("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1");
  failure(quick_request("hf:o/m:Q4_K_M"), RC_E_IO);
}

TEST_F(ModelFetch, WrongContentIsRefused) {
  hub_.send_instead("m-Q8_0.gguf", noise(50000, 7));
  const std::string message =
      failure(quick_request("hf:o/m:Q8_0"), RC_E_FORMAT);
  for (const std::string& part :
       {std::string("m-Q8_0.gguf"), std::string("SHA-256"),
        sha256(hub_.content("m-Q8_0.gguf"))}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(snapshot()));
  hub_.send_instead("m-Q8_0.gguf", hub_.content("m-Q8_0.gguf"));
  hub::fetch(quick_request("hf:o/m:Q8_0"));
  hub_.put("config.json", "{\"a\": 1}", false);
  hub_.send_instead("config.json", "{\"a\": 2}");
  EXPECT_NE(
      failure(quick_request("hf:o/m:config.json"), RC_E_FORMAT).find("SHA-1"),
      std::string::npos);
}

TEST_F(ModelFetch, ResumesADownloadOfHuggingfaceHub) {
  const std::string& content = hub_.content("m-Q8_0.gguf");
  fs::create_directories(folder() / "blobs");
  std::ofstream(folder() / "blobs" / (sha256(content) + ".incomplete"),
                std::ios::binary)
      << content.substr(0, 45000);
  std::atomic<size_t> sent{0};
  hub_.set_fault([&](const Asked&, bool cdn, Reply* reply) {
    if (cdn) sent += reply->body.size();
  });
  hub::fetch(quick_request("hf:o/m:Q8_0"));
  EXPECT_EQ(sent, 5000u);
  EXPECT_EQ(hub::list_cache("")[0].incomplete_bytes, 0u);
}

TEST_F(ModelFetch, OwnPartialDownloadIsListed) {
  hub::FetchRequest request = quick_request("hf:o/m:Q8_0");
  request.progress = [](const std::string&, uint64_t done, uint64_t total) {
    return total == 0 || done < total / 2;
  };
  failure(request, RC_E_CANCELLED);
  EXPECT_GT(hub::list_cache("")[0].incomplete_bytes, 20000u);
  EXPECT_NE(hub::cache_json("").find("\"name\":\"hf:o/m\""), std::string::npos);
  EXPECT_GT(hub::remove_from_cache("hf:o/m", ""), 20000u);
  EXPECT_FALSE(fs::exists(folder()));
  EXPECT_THROW(hub::remove_from_cache("hf:o/m", ""), Error);
}

TEST_F(ModelFetch, FileNamesOutsideOfTheFolderAreRefused) {
  for (const char* name : {"../evil.gguf", "/etc/evil.gguf", "a/../../e.gguf",
                           "a\\\\b.gguf", "a//b.gguf", "./c.gguf"}) {
    hub_.put(name, noise(100, 9));
  }
  hub::fetch(quick_request("hf:o/m:Q8_0"));
  EXPECT_EQ(std::distance(fs::directory_iterator(snapshot()),
                          fs::directory_iterator()),
            1);
  // A folder of a snapshot that leads elsewhere.
  TemporaryFolder elsewhere;
  hub_.put("sub/x-Q2_K.gguf", noise(100, 9));
  fs::create_directory_symlink(elsewhere.path(), snapshot() / "sub");
  failure(quick_request("hf:o/m:Q2_K"), RC_E_IO);
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
  // A file of a snapshot that leads elsewhere is not found.
  std::ofstream(elsewhere.path() / "secret.gguf") << "secret";
  fs::create_symlink(elsewhere.path() / "secret.gguf",
                     snapshot() / "m-Q3_K.gguf");
  EXPECT_THROW(hub::find_in_cache("hf:o/m:Q3_K", ""), Error);
}

TEST_F(ModelFetch, InvalidDescriptionsAreRefused) {
  for (const std::string body :
       {"", "[]", "{\"sha\":\"../x\",\"siblings\":[]}",
        "{\"sha\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
        "{\"sha\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"siblings\":"
        "[{\"rfilename\":\"m-Q8_0.gguf\",\"size\":-1,\"blobId\":\"x\"}]}"}) {
    hub_.set_fault(
        [body](const Asked&, bool, Reply* reply) { reply->body = body; });
    failure(quick_request("hf:o/m:Q8_0"), RC_E_FORMAT);
  }
}

TEST_F(ModelFetch, EndlessDescriptionsAreRefused) {
  bool drips = false;
  hub_.set_fault([&](const Asked& asked, bool, Reply* reply) {
    if (!asked.path.starts_with("/api/")) return;
    if (drips) {
      reply->drip_ms = 20;
      return;
    }
    reply->body = std::string(1 << 20, ' ');
    reply->endless = true;
  });
  EXPECT_NE(failure(quick_request("hf:o/m:Q8_0"), RC_E_FORMAT)
                .find("answers more than 67108864 bytes"),
            std::string::npos);
  drips = true;
  hub::FetchRequest request = quick_request("hf:o/m:Q8_0");
  request.manner.longest_answer = std::chrono::milliseconds(200);
  EXPECT_NE(failure(request, RC_E_IO)
                .find("the answer has not ended after 200 milliseconds"),
            std::string::npos);
}

TEST_F(ModelFetch, OfflineModeSendsNoRequests) {
  const TemporaryVariable offline("HF_HUB_OFFLINE", "1");
  EXPECT_NE(
      failure(quick_request("hf:o/m:Q8_0"), RC_E_IO).find("HF_HUB_OFFLINE"),
      std::string::npos);
  EXPECT_EQ(hub_.requests(), 0);
}

TEST_F(ModelFetch, WritesToAFile) {
  const TemporaryFolder elsewhere;
  hub::FetchRequest request = quick_request("hf:o/m:Q8_0");
  request.to = elsewhere.path() / "mine.gguf";
  EXPECT_EQ(hub::fetch(request), request.to);
  EXPECT_EQ(content_of_file(request.to), hub_.content("m-Q8_0.gguf"));
  EXPECT_FALSE(fs::exists(folder()));
  request.to = elsewhere.path() / "none/mine.gguf";
  failure(request, RC_E_NOT_FOUND);
}

TEST_F(ModelFetch, RunningDownloadIsNotRemoved) {
  hub::FetchRequest request = quick_request("hf:o/m:Q8_0");
  rc_status removed = RC_OK;
  request.progress = [&](const std::string&, uint64_t done, uint64_t) {
    if (done > 0 && removed == RC_OK) {
      try {
        hub::remove_from_cache("hf:o/m", "");
      } catch (const Error& error) {
        removed = error.status();
      }
    }
    return true;
  };
  hub::fetch(request);
  EXPECT_EQ(removed, RC_E_BUSY);
}

TEST_F(ModelFetch, FindInCacheDoesNotFetch) {
  try {
    hub::find_in_cache("hf:o/m:Q8_0", "");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_NOT_FOUND);
    EXPECT_NE(error.message().find("runcible pull hf:o/m:Q8_0"),
              std::string::npos)
        << error.message();
  }
  EXPECT_EQ(hub_.requests(), 0);
}

}  // namespace
}  // namespace rc::test
