// The other end of the remote backend, and what may happen on the way there.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rc::test {

// A remote_server in a separate process; killed with the object.
class Server {
 public:
  // Returns when it listens. With `endless`, its runs end only when asked to.
  explicit Server(std::string path, const char* module = RC_SERVED,
                  bool endless = false);
  ~Server() { kill(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void signal(int number) const;
  void kill();
  // Asked to end in good order; its exit code.
  int terminate();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t process_ = 0;
};

// Connected to the server at the path; throws if that fails.
int connect_to(const std::string& path);

// Stands between clients and a server: hands the bytes on, but for a fault.
class Proxy {
 public:
  Proxy(std::string path, std::string server);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // The n-th byte from the server, from 0, is inverted; -1: none.
  void corrupt(int64_t n);
  // Bytes that have come from the server since.
  int64_t bytes() const { return bytes_; }
  // The longest that a client has said on one connection.
  std::string longest_speech();
  // Every connection ends, as seen from both sides.
  void cut();

 private:
  void accept_all();
  void hand_on(int client, int server);

  std::string server_;
  int listener_;
  std::atomic<int64_t> corrupted_{-1};
  std::atomic<int64_t> bytes_{0};
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::string longest_;
  std::vector<std::thread> threads_;  // the first one accepts
};

}  // namespace rc::test
