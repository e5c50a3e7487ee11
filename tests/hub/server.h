// A server on loopback that answers as its handler says, with faults.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace rc::test {

struct Asked {
  std::string method;
  std::string path;                            // with the query
  std::map<std::string, std::string> headers;  // names in lower case
};

struct Reply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // After so many bytes of the body the connection is closed, or nothing more
  // comes until the client goes away. Negative: neither.
  int64_t cut_after = -1;
  int64_t stall_after = -1;
  // The body is sent again and again, without a length, until the client goes
  // away.
  bool endless = false;
  // Milliseconds between the bytes of the body, which come one by one.
  // Negative: it comes at once.
  int drip_ms = -1;
};

class Server {
 public:
  using Handler = std::function<Reply(const Asked&)>;

  // The handler runs on any number of threads.
  explicit Server(Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:PORT".
  std::string address() const;
  int requests() const { return requests_; }

 private:
  void accept_all();
  void serve(int connection);

  const Handler handler_;
  int listening_ = -1;
  int port_ = 0;
  std::atomic<int> requests_{0};
  std::mutex mutex_;
  std::set<int> connections_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

// Returns the reply of a good server for a file: the whole or the requested
// range, obeying If-Range.
Reply answer_file(const Asked& asked, const std::string& content,
                  const std::string& tag);

// Bytes that look like nothing, the same for the same seed.
std::string noise(size_t bytes, unsigned seed);

// In lower-case hexadecimal, by libcrypto.
std::string sha256(const std::string& content);
// As git names the content of a file.
std::string git_sha1(const std::string& content);

}  // namespace rc::test
