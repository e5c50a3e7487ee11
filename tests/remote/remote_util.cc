#include "remote_util.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace rc::test {
namespace {

void check(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

int make_socket() {
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(made >= 0, "socket");
  return made;
}

}  // namespace

Server::Server(std::string path, const char* module, bool endless)
    : path_(std::move(path)) {
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
  std::string program = RC_REMOTE_SERVER;
  std::string served = module;
  char* arguments[] = {program.data(), path_.data(), served.data(), nullptr};
  std::string variable = "RUNCIBLE_TEST_ENDLESS=1";
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one)
    environment.push_back(*one);
  if (endless) environment.push_back(variable.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int error = posix_spawn(&process_, program.c_str(), &actions, nullptr,
                                arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  // It prints a line when it listens.
  char line[256];
  const ssize_t count = error == 0 ? read(ends[0], line, sizeof line) : 0;
  close(ends[0]);
  if (count <= 0) {
    kill();
    throw std::runtime_error("the server did not start");
  }
}

void Server::signal(int number) const { ::kill(process_, number); }

void Server::kill() {
  if (process_ == 0) return;
  signal(SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

int Server::terminate() {
  signal(SIGTERM);
  int status = -1;
  waitpid(process_, &status, 0);
  process_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int connect_to(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const int made = make_socket();
  check(connect(made, reinterpret_cast<const sockaddr*>(&address),
                sizeof address) == 0,
        "connect");
  return made;
}

Proxy::Proxy(std::string path, std::string server)
    : server_(std::move(server)), listener_(make_socket()) {
  const sockaddr_un address = address_of(path);
  check(bind(listener_, reinterpret_cast<const sockaddr*>(&address),
             sizeof address) == 0,
        "bind");
  check(listen(listener_, 16) == 0, "listen");
  threads_.emplace_back([this] { accept_all(); });
}

Proxy::~Proxy() {
  shutdown(listener_, SHUT_RDWR);
  threads_.front().join();
  cut();
  for (size_t i = 1; i < threads_.size(); ++i) threads_[i].join();
  for (const int socket : sockets_) close(socket);
  close(listener_);
}

void Proxy::corrupt(int64_t n) {
  bytes_ = 0;
  corrupted_ = n;
}

void Proxy::cut() {
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

std::string Proxy::longest_speech() {
  const std::lock_guard lock(mutex_);
  return longest_;
}

void Proxy::accept_all() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    int server = -1;
    try {
      server = connect_to(server_);
    } catch (const std::system_error&) {
      close(client);
      continue;
    }
    const std::lock_guard lock(mutex_);
    sockets_.push_back(client);
    sockets_.push_back(server);
    threads_.emplace_back([=, this] { hand_on(client, server); });
  }
}

void Proxy::hand_on(int client, int server) {
  char bytes[1 << 16];
  std::string speech;
  bool open = true;
  while (open) {
    pollfd watched[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0) continue;
    for (int i = 0; i < 2 && open; ++i) {
      if (watched[i].revents == 0) continue;
      const ssize_t count = recv(watched[i].fd, bytes, sizeof bytes, 0);
      if (count > 0 && i == 1) {
        const int64_t before = bytes_.fetch_add(count);
        const int64_t at = corrupted_ - before;
        if (at >= 0 && at < count) bytes[at] = static_cast<char>(~bytes[at]);
      }
      if (count > 0 && i == 0) speech.append(bytes, static_cast<size_t>(count));
      ssize_t sent = 0;
      for (ssize_t more = 0; sent < count; sent += more) {
        more = send(watched[1 - i].fd, bytes + sent,
                    static_cast<size_t>(count - sent), MSG_NOSIGNAL);
        if (more <= 0) break;
      }
      open = count > 0 && sent == count;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    if (speech.size() > longest_.size()) longest_ = std::move(speech);
  }
  // Not closed: the numbers shall not come to mean other sockets.
  shutdown(client, SHUT_RDWR);
  shutdown(server, SHUT_RDWR);
}

}  // namespace rc::test
