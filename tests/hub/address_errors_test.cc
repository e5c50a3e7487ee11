// Addresses and answers of servers that are refused, with the message that
// fetching ends with, and the nearest that are taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hub/fake_hub.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

class AddressErrors : public testing::Test {
 protected:
  void SetUp() override { RC_SKIP_WITHOUT_LIBCURL(); }
  hub::FetchRequest request(const std::string& address) const {
    hub::FetchRequest request = quick_request(address);
    request.to = folder_.path() / "file";
    request.manner.connections = 1;
    return request;
  }
  std::string fetched(const hub::FetchRequest& request) const {
    return content_of_file(hub::fetch(request));
  }
  const TemporaryFolder folder_;
  const std::string content_ = noise(10000, 1);
};

TEST_F(AddressErrors, RefusedAddressesAreNamed) {
  const auto refuse = [&](const std::string& source,
                          const std::string& message) {
    expect_fetch_error(request(source), RC_E_INVALID_ARGUMENT, message);
  };
  for (const std::string source : {"https://", "http://["}) {
    refuse(source, "'" + source + "': this is no address");
  }
  refuse("https://a b/",
         "'https://a b/': an address without spaces and control characters is "
         "needed");
  refuse("https://a/\x7F",
         "'https://a/\\x7f': an address without spaces and control characters "
         "is needed");
  for (const char* source :
       {"https://u@a/b", "https://u:p@a/b", "https://:p@a/b"}) {
    refuse(source,
           "an address with a user or password in it is not fetched, for it "
           "would end up in logs; name the address without");
  }
  for (const std::string source :
       {"http://a.example/b", "http://127.a.example/b", "http://[::2]/b"}) {
    refuse(source, "'" + source +
                       "': models are fetched by https only; anybody on the "
                       "way could change what comes by http");
  }
  const Server server([&](const Asked& asked) {
    return answer_file(asked, content_, "\"one\"");
  });
  EXPECT_EQ(fetched(request(server.address() + "/~file")), content_);
}

TEST_F(AddressErrors, EightRedirectsAreFollowedAtMost) {
  std::atomic<int> most{0};
  const Server server([&](const Asked& asked) {
    const int hop = std::stoi(asked.path.substr(1));
    if (hop == most) return answer_file(asked, content_, "\"one\"");
    return Reply{302,
                 {{"Location", "/" + std::to_string(hop + 1) + "?s3cret"}},
                 "",
                 -1,
                 -1};
  });
  most = 8;
  EXPECT_EQ(fetched(request(server.address() + "/0")), content_);
  most = 9;
  expect_fetch_error(request(server.address() + "/0"), RC_E_IO,
                     "'" + server.address() +
                         "/8': more than 8 redirects one after the other; the "
                         "server sends in a circle");
}

TEST_F(AddressErrors, InvalidRedirectsAreNamed) {
  const auto refuse =
      [&](std::vector<std::pair<std::string, std::string>> headers,
          const std::string& message) {
        const Server server([&](const Asked&) {
          return Reply{302, headers, "", -1, -1};
        });
        expect_fetch_error(request(server.address() + "/f"), RC_E_IO,
                           "'" + server.address() + "/f'" + message);
      };
  refuse({}, ": answers 302 and does not say where to go on");
  refuse({{"Location", "http://a.example/b?key=s3cret"}},
         " sends elsewhere: 'http://a.example/b': models are fetched by https "
         "only; anybody on the way could change what comes by http");
  refuse({{"Location", "ftp://a.example/b"}},
         " sends elsewhere: 'ftp://a.example/b': only addresses that begin "
         "with https:// can be fetched");
}

TEST_F(AddressErrors, TransientStatusesAreRetried) {
  for (const auto& [status, passes] : {std::pair(407, false),
                                       {408, true},
                                       {409, false},
                                       {428, false},
                                       {429, true},
                                       {430, false},
                                       {499, false},
                                       {500, true},
                                       {599, true},
                                       {600, false}}) {
    std::atomic<int> asked_for{0};
    const Server server([&, status = status](const Asked& asked) {
      if (++asked_for == 1) return Reply{status, {}, "", -1, -1};
      return answer_file(asked, content_, "\"one\"");
    });
    const std::string address = server.address() + "/f";
    if (passes) {
      EXPECT_EQ(fetched(request(address)), content_) << status;
    } else {
      expect_fetch_error(request(address), RC_E_IO,
                         "'" + address + "': " + address + " answers " +
                             std::to_string(status));
      EXPECT_EQ(asked_for, 1);
    }
  }
}

TEST_F(AddressErrors, RetryAfterIsLimited) {
  for (const std::string seconds : {"0", "1", "soon"}) {
    std::atomic<int> asked_for{0};
    const Server server([&](const Asked& asked) {
      if (++asked_for == 1) {
        return Reply{503, {{"Retry-After", seconds}}, "", -1, -1};
      }
      return answer_file(asked, content_, "\"one\"");
    });
    hub::FetchRequest hasty = request(server.address() + "/f");
    hasty.manner.longest_pause = std::chrono::milliseconds(999);
    if (seconds != "1") {
      EXPECT_EQ(fetched(hasty), content_);
      continue;
    }
    expect_fetch_error(
        hasty, RC_E_IO,
        "'" + hasty.source + "': " + hasty.source +
            " answers 503; the server wants to be left alone for 1 "
            "seconds; fetch again after that");
    asked_for = 0;
    hasty.manner.longest_pause = std::chrono::milliseconds(1000);
    EXPECT_EQ(fetched(hasty), content_);
  }
}

TEST_F(AddressErrors, FirstReplyMustDescribeTheFile) {
  const auto ask = [&](Reply first) {
    const Server server([&](const Asked& asked) {
      if (asked.headers.at("range") == "bytes=0-0") return first;
      return answer_file(asked, content_, "\"one\"");
    });
    const std::string address = server.address() + "/f";
    try {
      return fetched(request(address));
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_UNSUPPORTED) << error.message();
      EXPECT_EQ(error.message().find("'" + address + "': "), 0u);
      return error.message().substr(address.size() + 4);
    }
  };
  const auto whole = [&](const std::string& range, const char* coding) {
    return Reply{206,
                 {{"ETag", "\"one\""},
                  {"Content-Range", range},
                  {"Content-Encoding", coding}},
                 content_.substr(0, 1),
                 -1,
                 -1};
  };
  const std::string no_size =
      "the server does not say how long the file is; fetch it with another "
      "program";
  EXPECT_EQ(ask(whole("bytes 0-0/*", "identity")), no_size);
  EXPECT_EQ(ask(whole("bytes 0-0/10000x", "identity")), no_size);
  EXPECT_EQ(ask(whole("bytes 0-0/10000", "br")),
            "the server sends the file encoded as 'br', which was not asked "
            "for; fetch it with another program");
  EXPECT_EQ(ask(whole("bytes 0-0/10000", "identity")), content_);
}

// The last reason is the one that fetching ends with.
TEST_F(AddressErrors, ContentRangeMustMatchTheRequest) {
  const auto ask = [&](const std::string& range) {
    const Server server([&](const Asked& asked) {
      Reply reply = answer_file(asked, content_, "\"one\"");
      if (reply.body.size() < 2) return reply;
      reply.headers.pop_back();
      if (!range.empty()) reply.headers.emplace_back("Content-Range", range);
      reply.body = content_.substr(0, 4096);
      return reply;
    });
    hub::FetchRequest request = this->request(server.address() + "/f");
    uint64_t most = 0;
    request.progress = [&](const std::string&, uint64_t done, uint64_t) {
      most = std::max(most, done);
      return true;
    };
    expect_fetch_error(
        request, RC_E_IO,
        "'" + server.address() + "/f': " + server.address() + "/f: " +
            (range.starts_with("bytes ") && !range.ends_with("x")
                 ? "another range came than was asked for: " + range
                 : "a range comes without a Content-Range") +
            ", 6 times in a row; fetch again later, which goes on from what "
            "is there");
    EXPECT_EQ(most, 0u) << range;
    fs::remove(request.to + ".incomplete");
  };
  for (const char* range : {"", "octets 0-4095/10000", "bytes 0-4095/10000x"}) {
    ask(range);
  }
  for (const char* range :
       {"bytes 1-4095/10000", "bytes 0-4096/10000", "bytes 0-4096/*"}) {
    ask(range);
  }
}

TEST_F(AddressErrors, ChangedLengthWithoutRangesIsAnError) {
  const size_t kept = content_.size();
  for (const size_t size : {kept, kept - 1}) {
    std::atomic<int> asked_for{0};
    const Server server([&](const Asked&) {
      // It is asked how long the file is, and then for a range.
      const size_t now = ++asked_for <= 2 ? kept : size;
      return Reply{200, {}, content_.substr(0, now), -1, -1};
    });
    const hub::FetchRequest request = this->request(server.address() + "/f");
    if (size == kept) {
      EXPECT_EQ(fetched(request), content_);
      continue;
    }
    expect_fetch_error(
        request, RC_E_IO,
        "'" + request.source + "': " + request.source +
            ": the file has become 9999 bytes, 6 times in a row; "
            "fetch again later, which goes on from what is there");
  }
}

}  // namespace
}  // namespace rc::test
