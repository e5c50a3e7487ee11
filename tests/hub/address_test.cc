// Files from plain addresses, of servers that are good, and of those that are
// not.
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "hub/fake_hub.h"
#include "hub/fetch.h"
#include "hub/server.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kRequestPart = 4096;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Address : public testing::Test {
 protected:
  void SetUp() override { RC_SKIP_WITHOUT_LIBCURL(); }
  hub::FetchRequest request(const Server& server) const {
    hub::FetchRequest request;
    request.source = server.address() + "/files/model.gguf";
    request.to = target();
    request.manner.part_bytes = kRequestPart;
    request.manner.connections = 4;
    request.manner.first_pause = std::chrono::milliseconds(1);
    return request;
  }
  std::string target() const { return folder_.path() / "model.gguf"; }
  std::string partial() const { return target() + ".incomplete"; }
  // The message of the error that fetching ends with; nothing is there then.
  std::string failure(const hub::FetchRequest& request, rc_status status) {
    try {
      hub::fetch(request);
    } catch (const Error& error) {
      EXPECT_STREQ(rc_status_name(error.status()), rc_status_name(status))
          << error.message();
      EXPECT_FALSE(fs::exists(target()));
      return error.message();
    }
    ADD_FAILURE() << "it did not fail";
    return "";
  }

  TemporaryFolder folder_;
  const std::string content_ = noise(10 * kRequestPart + 123, 1);
};

TEST_F(Address, IsFetchedInRanges) {
  std::atomic<int> ranges{0};
  const Server server([&](const Asked& asked) {
    if (asked.headers.contains("range")) ++ranges;
    return answer_file(asked, content_, "\"one\"");
  });
  EXPECT_EQ(hub::fetch(request(server)), target());
  EXPECT_EQ(content_of(target()), content_);
  EXPECT_EQ(ranges, 12);  // one to look at it
  EXPECT_FALSE(fs::exists(partial()));
}

TEST_F(Address, FetchesWholePartsAndSingleBytes) {
  for (const size_t size : {kRequestPart, 2 * kRequestPart, uint64_t{1}}) {
    const std::string content = noise(size, 3);
    const Server server([&](const Asked& asked) {
      return answer_file(asked, content, "\"one\"");
    });
    hub::fetch(request(server));
    EXPECT_EQ(content_of(target()), content);
  }
}

TEST_F(Address, ResumesAPartialFile) {
  std::atomic<bool> down{false};
  std::atomic<int> bytes{0};
  const Server server([&](const Asked& asked) {
    if (down) return Reply{503, {}, "", -1, -1};
    Reply reply = answer_file(asked, content_, "\"one\"");
    bytes += static_cast<int>(reply.body.size());
    return reply;
  });
  hub::FetchRequest first = request(server);
  first.manner.connections = 1;
  // It ends where half is there.
  first.progress = [&](const std::string&, uint64_t done, uint64_t total) {
    return total == 0 || done < total / 2;
  };
  failure(first, RC_E_CANCELLED);
  EXPECT_TRUE(fs::exists(partial()));
  down = true;
  EXPECT_NE(failure(request(server), RC_E_IO).find("503"), std::string::npos);
  down = false;
  bytes = 0;
  hub::fetch(request(server));
  EXPECT_EQ(content_of(target()), content_);
  EXPECT_LT(bytes, static_cast<int>(content_.size() * 2 / 3));
}

TEST_F(Address, FetchesFromAServerWithoutRanges) {
  const Server server([&](const Asked&) {
    return Reply{200, {{"ETag", "\"one\""}}, content_, -1, -1};
  });
  hub::fetch(request(server));
  EXPECT_EQ(content_of(target()), content_);
}

TEST_F(Address, CutConnectionsAreResumed) {
  std::atomic<int> cuts{0};
  const Server server([&](const Asked& asked) {
    Reply reply = answer_file(asked, content_, "\"one\"");
    if (reply.body.size() > 1 && ++cuts % 2 == 0) reply.cut_after = 1000;
    return reply;
  });
  hub::fetch(request(server));
  EXPECT_EQ(content_of(target()), content_);
  EXPECT_GE(cuts, 4);
}

TEST_F(Address, GivesUpOnAServerThatAlwaysCuts) {
  const Server server([&](const Asked& asked) {
    Reply reply = answer_file(asked, content_, "\"one\"");
    if (reply.body.size() > 1) reply.cut_after = 0;
    return reply;
  });
  const std::string message = failure(request(server), RC_E_IO);
  EXPECT_NE(message.find("/files/model.gguf"), std::string::npos) << message;
  EXPECT_NE(message.find("6 times in a row"), std::string::npos) << message;
}

TEST_F(Address, StalledConnectionTimesOut) {
  std::atomic<int> stalls{0};
  const Server server([&](const Asked& asked) {
    Reply reply = answer_file(asked, content_, "\"one\"");
    if (reply.body.size() > 1 && stalls++ == 0) reply.stall_after = 10;
    return reply;
  });
  hub::FetchRequest request = this->request(server);
  request.manner.limits.stall = std::chrono::milliseconds(300);
  hub::fetch(request);
  EXPECT_EQ(content_of(target()), content_);
}

// Bytes that come, but so slowly that it would never end.
TEST_F(Address, SlowConnectionTimesOut) {
  std::atomic<bool> drips{true};
  std::atomic<int> cut_off{0};
  const Server server([&](const Asked& asked) {
    Reply reply = answer_file(asked, content_, "\"one\"");
    if (drips && asked.headers.contains("range") && reply.body.size() > 1) {
      reply.drip_ms = 5;
      ++cut_off;
    }
    return reply;
  });
  hub::FetchRequest slow = request(server);
  slow.manner.limits.stall = std::chrono::hours(1);
  slow.manner.limits.least_rate = 1 << 20;
  slow.manner.limits.rate_window = std::chrono::milliseconds(50);
  const std::string message = failure(slow, RC_E_IO);
  EXPECT_NE(message.find("less than 1048576 bytes per second"),
            std::string::npos)
      << message;
  EXPECT_GE(cut_off, slow.manner.most_failures);
  // A rate that is enough is no stall.
  drips = false;
  slow.manner.limits = {};
  hub::fetch(slow);
  EXPECT_EQ(content_of(target()), content_);
}

// A server without ranges that sends something else: how much of it comes is no
// progress.
TEST_F(Address, GivesUpOnEndlessWrongContent) {
  // Large, so that much comes each time.
  const std::string content = noise(300000, 2);
  for (const bool with_ranges : {false, true}) {
    const Server server([&](const Asked& asked) {
      // First it is the file.
      if (asked.headers.contains("range") &&
          asked.headers.at("range") == "bytes=0-0") {
        Reply reply = answer_file(asked, content, "\"one\"");
        if (!with_ranges) reply = {200, {}, content, -1, -1};
        return reply;
      }
      Reply reply = {200, {}, std::string(1 << 17, 'x'), -1, -1};
      reply.endless = true;
      if (with_ranges) reply.headers = {{"ETag", "\"one\""}};
      return reply;
    });
    const std::string message = failure(request(server), RC_E_IO);
    EXPECT_NE(message.find("more bytes came than were asked for"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("6 times"), std::string::npos) << message;
    // The question, the request that shows that there are no ranges, and one
    // request for each failure; the others were under way.
    EXPECT_LE(server.requests(), 6 + 1 + request(server).manner.connections);
  }
}

TEST_F(Address, EncodedReplyIsRefused) {
  const Server server([&](const Asked& asked) {
    Reply reply = answer_file(asked, content_, "\"one\"");
    reply.headers.emplace_back("Content-Encoding", "gzip");
    return reply;
  });
  EXPECT_NE(failure(request(server), RC_E_UNSUPPORTED).find("gzip"),
            std::string::npos);
}

TEST_F(Address, AWrongRangeIsRefused) {
  const Server server([&](const Asked& asked) {
    Reply reply = answer_file(asked, content_, "\"one\"");
    if (reply.body.size() > 1) {
      reply.headers.back().second =
          "bytes 5-10/" + std::to_string(content_.size());
    }
    return reply;
  });
  EXPECT_NE(failure(request(server), RC_E_IO).find("another range"),
            std::string::npos);
}

TEST_F(Address, ChangedFileIsFetchedFromTheBeginning) {
  const std::string other = noise(content_.size(), 2);
  std::atomic<int> asked_for{0};
  const Server server([&](const Asked& asked) {
    return ++asked_for < 5 ? answer_file(asked, content_, "\"one\"")
                           : answer_file(asked, other, "\"two\"");
  });
  hub::fetch(request(server));
  EXPECT_EQ(content_of(target()), other);
}

// Ranges of different files are not mixed, and a download does not continue
// with another file.
TEST_F(Address, ServersWithoutVersionsMixNoContents) {
  const std::string other = noise(content_.size(), 2);
  for (const bool weak : {true, false}) {
    std::atomic<bool> changed{false};
    const Server server([&](const Asked& asked) {
      Reply reply = answer_file(asked, changed ? other : content_, "\"x\"");
      reply.headers.erase(reply.headers.begin());
      if (weak) {
        reply.headers.emplace_back("ETag", changed ? "W/\"2\"" : "W/\"1\"");
      }
      return reply;
    });
    hub::FetchRequest first = request(server);
    first.manner.connections = 1;
    first.progress = [](const std::string&, uint64_t done, uint64_t total) {
      return total == 0 || done < total / 2;
    };
    failure(first, RC_E_CANCELLED);
    changed = true;
    hub::fetch(request(server));
    EXPECT_EQ(content_of(target()), other);
    fs::remove(target());
  }
}

TEST_F(Address, AFileThatAlwaysChangesIsAnError) {
  std::atomic<int> version{0};
  const Server server([&](const Asked& asked) {
    return answer_file(asked, content_,
                       "\"" + std::to_string(++version) + "\"");
  });
  EXPECT_NE(failure(request(server), RC_E_IO).find("changes"),
            std::string::npos);
}

TEST_F(Address, FollowsRedirects) {
  const Server server([&](const Asked& asked) {
    if (asked.path == "/files/model.gguf") {
      return Reply{302, {{"Location", "/there?key=secret"}}, "", -1, -1};
    }
    return answer_file(asked, content_, "\"one\"");
  });
  hub::fetch(request(server));
  EXPECT_EQ(content_of(target()), content_);
}

TEST_F(Address, BadRedirectsAreErrors) {
  const auto message_of = [&](const std::string& location) {
    const Server server([&](const Asked&) {
      return Reply{302, {{"Location", location}}, "", -1, -1};
    });
    return failure(request(server), RC_E_IO);
  };
  EXPECT_NE(message_of("/files/model.gguf").find("circle"), std::string::npos);
  for (const char* to : {"http://example.com/x", "file:///etc/passwd",
                         "ftp://127.0.0.1/x", "http://u:p@127.0.0.1/x"}) {
    const std::string message = message_of(to);
    EXPECT_NE(message.find("sends elsewhere"), std::string::npos)
        << to << ": " << message;
    EXPECT_EQ(message.find("u:p"), std::string::npos);
  }
}

TEST_F(Address, RefusalsAreErrors) {
  const std::vector<std::pair<int, rc_status>> cases = {{404, RC_E_NOT_FOUND},
                                                        {410, RC_E_NOT_FOUND},
                                                        {401, RC_E_IO},
                                                        {403, RC_E_IO},
                                                        {400, RC_E_IO}};
  for (const auto& [code, status] : cases) {
    const Server server([&, code = code](const Asked&) {
      return Reply{code, {}, "", -1, -1};
    });
    EXPECT_NE(failure(request(server), status).find(std::to_string(code)),
              std::string::npos);
    EXPECT_EQ(server.requests(), 1);
  }
}

TEST_F(Address, BusyServerIsRetried) {
  std::atomic<int> asked_for{0};
  const Server server([&](const Asked& asked) {
    if (++asked_for < 4) return Reply{429, {{"Retry-After", "0"}}, "", -1, -1};
    return answer_file(asked, content_, "\"one\"");
  });
  hub::fetch(request(server));
  EXPECT_EQ(content_of(target()), content_);
}

TEST_F(Address, LongRetryAfterIsAnError) {
  const Server server([&](const Asked&) {
    return Reply{429, {{"Retry-After", "86400"}}, "", -1, -1};
  });
  EXPECT_NE(failure(request(server), RC_E_IO).find("86400 seconds"),
            std::string::npos);
}

TEST_F(Address, NeedsHttpsExceptForLocalhost) {
  hub::FetchRequest request;
  request.to = target();
  for (const char* source :
       {"http://example.com/model.gguf", "https://user:word@example.com/m",
        "https://", "http://127.0.0.1.example.com/x", "https://a b/"}) {
    request.source = source;
    const std::string message = failure(request, RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(message.find("word@"), std::string::npos) << message;
  }
}

TEST_F(Address, ConcurrentFetchesDoNotMix) {
  const Server server([&](const Asked& asked) {
    return answer_file(asked, content_, "\"one\"");
  });
  hub::FetchRequest first = request(server);
  rc_status second = RC_OK;
  first.progress = [&](const std::string&, uint64_t done, uint64_t) {
    if (done > 0 && second == RC_OK) {
      try {
        hub::fetch(request(server));
      } catch (const Error& error) {
        second = error.status();
      }
    }
    return true;
  };
  hub::fetch(first);
  EXPECT_EQ(second, RC_E_BUSY);
  EXPECT_EQ(content_of(target()), content_);
}

}  // namespace
}  // namespace rc::test
