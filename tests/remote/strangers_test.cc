// Invalid messages to a server of the remote backend, and to its clients.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "remote_fixture.h"

namespace rc::test {
namespace {

// One who speaks with the server by hand.
class Stranger {
 public:
  explicit Stranger(const std::string& path) : socket_(connect_to(path)) {}
  ~Stranger() { close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void send(const std::string& bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void frame(int32_t code, const std::string& payload) const {
    send(number(static_cast<uint32_t>(payload.size())) + number(code) +
         payload);
  }
  // Waits for an answer; its status, or 1 if the server has hung up.
  int32_t status() const {
    while (true) {
      uint32_t header[2];
      if (recv(socket_, header, sizeof header, MSG_WAITALL) != sizeof header) {
        return 1;
      }
      std::string payload(header[0], ' ');
      if (!payload.empty() &&
          recv(socket_, payload.data(), payload.size(), MSG_WAITALL) <= 0) {
        return 1;
      }
      // The other frames only report that the server is alive.
      if (header[1] != 1) return static_cast<int32_t>(header[1]);
    }
  }
  int32_t greet() const {
    frame(1, number(0x65746d72u) + number(2u));
    return status();
  }
  int32_t open() const {
    frame(4, number(0) + number(1) + number(0));
    return status();
  }

  template <class T>
  static std::string number(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }

 private:
  int socket_;
};

TEST_F(Remote, OtherProtocolsAreDisconnected) {
  const Server server(path("socket"));
  for (const std::string& words :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(8, '\xff'),
        std::string(64, '\0'), Stranger::number(uint64_t{4} << 32 | 4)}) {
    const Stranger stranger(server.path());
    stranger.send(words);
    // Half a frame is waited for; a whole one that is no greeting is not.
    if (words.size() >= 64 || words[0] == '\xff') {
      EXPECT_EQ(stranger.status(), 1);
    }
  }
  const Stranger late(server.path());
  late.frame(1, Stranger::number(0x65746d72u) + Stranger::number(999u));
  EXPECT_EQ(late.status(), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(late.status(), 1);
  const Stranger good(server.path());
  EXPECT_EQ(good.greet(), RC_OK);
  EXPECT_EQ(good.greet(), RC_OK);
}

// Calls out of order, with numbers that mean nothing and of every length.
TEST_F(Remote, InvalidCallIsAStatus) {
  const Server server(path("socket"));
  std::mt19937 random(5);
  for (int turn = 0; turn < 20; ++turn) {
    const Stranger stranger(server.path());
    ASSERT_EQ(stranger.greet(), RC_OK);
    if (turn % 2 == 1) {
      ASSERT_EQ(stranger.open(), RC_OK);
    }
    for (int i = 0; i < 100; ++i) {
      std::string payload;
      const size_t numbers = random() % 30;
      for (size_t k = 0; k < numbers; ++k) {
        payload += random() % 8 == 0
                       ? Stranger::number(static_cast<uint32_t>(random()))
                       : Stranger::number(static_cast<uint32_t>(random() % 4));
      }
      payload.resize(payload.size() - (numbers > 0 ? random() % 4 : 0));
      const auto code = static_cast<int32_t>(random() % 20);
      // Memory without measure is the module's to give.
      if (code == 9) continue;
      stranger.frame(code, payload);
      ASSERT_LE(stranger.status(), 0) << "code " << code;
    }
  }
  EXPECT_TRUE(features_end_with("live 0, runs 0")) << features();
  EXPECT_NE(fable("remote"), "");
}

// The messages of a valid client, with a few wrong bytes in one frame after the
// other.
TEST_F(Remote, CorruptFrameIsAStatus) {
  const Server server(path("socket"));
  std::string speech;
  {
    Proxy proxy(path("proxy"), server.path());
    use(path("proxy"));
    ASSERT_TRUE(walk());
    use(server.path());
    // It is known when the connection has ended.
    ASSERT_TRUE(features_end_with("live 0, runs 0"));
    proxy.cut();
    const auto end = Clock::now() + std::chrono::milliseconds(kAnswerMs);
    while ((speech = proxy.longest_speech()).empty() && Clock::now() < end) {
    }
  }
  std::vector<std::string> frames;
  for (size_t at = 0; at + 8 <= speech.size(); at += frames.back().size()) {
    uint32_t payload = 0;
    std::memcpy(&payload, speech.data() + at, sizeof payload);
    frames.push_back(speech.substr(at, 8 + size_t{payload}));
  }
  ASSERT_GT(frames.size(), 50u);
  std::mt19937 random(7);
  constexpr int32_t kCreateBuffer = 9;
  constexpr int32_t kCompile = 14;
  for (size_t wrong = 1; wrong < frames.size(); ++wrong) {
    std::string bad = frames[wrong];
    int32_t code = 0;
    std::memcpy(&code, bad.data() + 4, sizeof code);
    // Memory without measure is the module's to give or refuse.
    if (code == kCreateBuffer) continue;
    const size_t most = bad.size() - (code == kCompile ? 32 : 0);
    // Frames that ask about an op are frequent; an eighth of them is enough.
    if (most <= 8 || (bad.size() == frames[wrong - 1].size() && wrong % 8)) {
      continue;
    }
    const int variants = code >= kCompile ? 8 : 1;
    for (int variant = 0; variant < variants; ++variant) {
      bad = frames[wrong];
      for (int i = 0; i <= variant % 3; ++i) {
        bad[8 + random() % (most - 8)] = static_cast<char>(random());
      }
      const Stranger stranger(server.path());
      for (size_t i = 0; i < frames.size(); ++i) {
        stranger.send(i == wrong ? bad : frames[i]);
        ASSERT_LE(stranger.status(), 0) << "after frame " << wrong;
        if (i == wrong + 8) break;
      }
    }
  }
  EXPECT_TRUE(features_end_with("live 0, runs 0")) << features();
}

}  // namespace
}  // namespace rc::test
