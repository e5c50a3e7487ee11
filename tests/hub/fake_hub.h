// A hub on loopback that answers as huggingface.co does, with a second server
// for the contents of large files, as its CDN is another host.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "hub/fetch.h"
#include "hub/server.h"
#include "runcible/base.h"
#include "temporary.h"

namespace rc::test {

// Expects that fetching ends with this error.
void expect_fetch_error(const hub::FetchRequest& request, rc_status status,
                        const std::string& message);

class FakeHub {
 public:
  struct File {
    std::string content;
    bool large = true;  // kept as LFS keeps it: by SHA-256, at the CDN
  };
  // Changes an answer, of the hub or the CDN, before it is sent.
  using Fault = std::function<void(const Asked&, bool cdn, Reply*)>;

  FakeHub();

  // One repository, o/m, whose branch main is this commit.
  void put(const std::string& name, std::string content, bool large = true);
  void set_token(std::string token);
  void set_fault(Fault fault);
  const std::string& content(const std::string& name) const {
    return files_.at(name).content;
  }
  std::string commit() const { return commit_; }
  void set_commit(std::string commit);
  std::string address() const { return hub_.address(); }
  int requests() const { return hub_.requests() + cdn_.requests(); }
  // Requests to the CDN that brought a token.
  int tokens_at_cdn() const { return tokens_at_cdn_; }
  // Sends this content in place of a file.
  void send_instead(const std::string& name, std::string content);

 private:
  Reply answer(const Asked& asked);
  Reply answer_at_cdn(const Asked& asked);
  Reply describe() const;
  std::string sent(const std::string& name) const;

  std::map<std::string, File> files_;
  std::map<std::string, std::string> instead_;
  std::string token_;
  std::string commit_ = std::string(40, 'a');
  Fault fault_;
  std::mutex mutex_;  // of all of these; only the test's thread changes them
  std::atomic<int> tokens_at_cdn_{0};
  Server cdn_;
  Server hub_;
};

// The environment of a user without settings, whose cache is a folder of the
// test and whose hub is this one.
class HubEnvironment {
 public:
  explicit HubEnvironment(const std::string& endpoint);
  std::string home() const { return home_.path(); }
  std::string cache() const { return home_.path() / "hub"; }

 private:
  TemporaryFolder home_;
  TemporaryVariable hf_home_;
  TemporaryVariable endpoint_;
  TemporaryVariable token_{"HF_TOKEN", ""};
  TemporaryVariable cache_{"HF_HUB_CACHE", ""};
  TemporaryVariable offline_{"HF_HUB_OFFLINE", ""};
};

// Whether there is a libcurl, in this build and on this machine; tests of what
// needs it are skipped otherwise.
bool can_fetch();
#define RC_SKIP_WITHOUT_LIBCURL() \
  if (!can_fetch()) GTEST_SKIP() << "there is no libcurl"

// Small parts and short pauses.
hub::FetchRequest quick_request(const std::string& source);

std::string content_of_file(const std::string& path);

}  // namespace rc::test
