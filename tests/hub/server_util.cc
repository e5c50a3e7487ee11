#include "hub/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <span>
#include <stdexcept>

#include "hub/digest.h"

namespace rc::test {
namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  }
  return text;
}

// The head of a request; false: the client has gone.
bool read_request(int connection, std::string* buffer, Asked* asked) {
  size_t end = std::string::npos;
  while ((end = buffer->find("\r\n\r\n")) == std::string::npos) {
    char bytes[4096];
    const ssize_t count = ::recv(connection, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    buffer->append(bytes, static_cast<size_t>(count));
  }
  std::string head = buffer->substr(0, end + 2);
  buffer->erase(0, end + 4);
  *asked = {};
  size_t line_end = head.find("\r\n");
  const std::string first = head.substr(0, line_end);
  const size_t space = first.find(' ');
  asked->method = first.substr(0, space);
  asked->path = first.substr(space + 1, first.rfind(' ') - space - 1);
  for (size_t at = line_end + 2; at < head.size(); at = line_end + 2) {
    line_end = head.find("\r\n", at);
    const std::string line = head.substr(at, line_end - at);
    const size_t colon = line.find(':');
    asked->headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
  }
  return true;
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// False: the client has gone.
bool drip(int connection, std::string_view bytes, int pause_ms) {
  for (const char byte : bytes) {
    pollfd gone = {connection, POLLRDHUP, 0};
    if (::poll(&gone, 1, pause_ms) != 0 || !send_all(connection, {&byte, 1})) {
      return false;
    }
  }
  return true;
}

}  // namespace

Server::Server(Handler handler) : handler_(std::move(handler)) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listening_ < 0 ||
      ::bind(listening_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listening_, 64) != 0 ||
      ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) !=
          0) {
    throw std::runtime_error("no server on loopback");
  }
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { accept_all(); });
}

Server::~Server() {
  ::shutdown(listening_, SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int connection : connections_) {
      ::shutdown(connection, SHUT_RDWR);
    }
  }
  for (std::thread& thread : threads_) thread.join();
  ::close(listening_);
}

std::string Server::address() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void Server::accept_all() {
  while (true) {
    const int connection =
        ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const std::lock_guard lock(mutex_);
    connections_.insert(connection);
    threads_.emplace_back([this, connection] { serve(connection); });
  }
}

void Server::serve(int connection) {
  std::string buffer;
  Asked asked;
  while (read_request(connection, &buffer, &asked)) {
    ++requests_;
    const Reply reply = handler_(asked);
    bool has_length = false;
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " X\r\n";
    for (const auto& [name, value] : reply.headers) {
      head += name + ": " + value + "\r\n";
      has_length = has_length || lower(name) == "content-length";
    }
    if (reply.endless) {
      head += "Connection: close\r\n";
    } else if (!has_length) {
      head += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
    }
    std::string_view body =
        asked.method == "HEAD" ? std::string_view() : reply.body;
    const int64_t until =
        reply.cut_after >= 0 ? reply.cut_after : reply.stall_after;
    if (until >= 0) body = body.substr(0, static_cast<size_t>(until));
    // In one piece, or the system waits for an acknowledgement between the two.
    head += "\r\n";
    if (reply.drip_ms < 0) head.append(body);
    if (!send_all(connection, head)) break;
    if (reply.drip_ms >= 0 && !drip(connection, body, reply.drip_ms)) break;
    if (reply.endless) {
      while (send_all(connection, body)) continue;
      break;
    }
    if (reply.cut_after >= 0) break;
    if (reply.stall_after >= 0) {
      char byte = 0;
      while (::recv(connection, &byte, 1, 0) > 0) continue;
      break;
    }
  }
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  ::close(connection);
}

Reply answer_file(const Asked& asked, const std::string& content,
                  const std::string& tag) {
  Reply reply;
  reply.headers = {{"ETag", tag}, {"Accept-Ranges", "bytes"}};
  reply.body = content;
  const auto range = asked.headers.find("range");
  if (range == asked.headers.end()) return reply;
  const auto if_range = asked.headers.find("if-range");
  if (if_range != asked.headers.end() && if_range->second != tag) return reply;
  unsigned long long first = 0;
  unsigned long long last = 0;
  if (std::sscanf(range->second.c_str(), "bytes=%llu-%llu", &first, &last) !=
          2 ||
      first >= content.size()) {
    reply.status = 416;
    reply.body.clear();
    return reply;
  }
  last = std::min<unsigned long long>(last, content.size() - 1);
  reply.status = 206;
  reply.body = content.substr(first, last + 1 - first);
  reply.headers.emplace_back("Content-Range",
                             "bytes " + std::to_string(first) + "-" +
                                 std::to_string(last) + "/" +
                                 std::to_string(content.size()));
  return reply;
}

std::string noise(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string sha256(const std::string& content) {
  hub::Digest digest(hub::Digest::Kind::kSha256);
  digest.add(std::as_bytes(std::span(content)));
  return digest.finish();
}

std::string git_sha1(const std::string& content) {
  hub::Digest digest(hub::Digest::Kind::kSha1);
  const std::string head = "blob " + std::to_string(content.size());
  digest.add(std::as_bytes(std::span(head.c_str(), head.size() + 1)));
  digest.add(std::as_bytes(std::span(content)));
  return digest.finish();
}

}  // namespace rc::test
