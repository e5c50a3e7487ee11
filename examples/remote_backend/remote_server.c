/* The process at the other end of remote_backend.c: loads a backend's module
 * and lends its devices to all clients. One libuv loop serves all clients; the
 * module computes in other threads. When a client goes away, its run is stopped
 * and its holdings are released.
 *
 *     cc remote_server.c client.c holdings*.c host_memory.c protocol.c \
 *       values.c -o remote_server $(pkg-config --cflags runcible) \
 *       $(pkg-config --cflags --libs libuv) -ldl
 *
 *     ./remote_server SOCKET MODULE.so
 *
 * Only this user can connect. A client may use the devices as though the module
 * were loaded in its own process: do not let other users connect. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "client.h"
#include "host_memory.h"

#define PATH_BYTES sizeof((struct sockaddr_un*)0)->sun_path

static rc_plugin plugin;

static void on_connection(uv_stream_t* listener, int error) {
  if (error == 0) accept_client(listener, &plugin);
}

static void end_handle(uv_handle_t* handle, void* unused) {
  (void)unused;
  if (uv_is_closing(handle)) return;
  if (handle->data == NULL) {
    uv_close(handle, NULL); /* the listener, which removes its path; signals */
  } else if (handle->type == UV_NAMED_PIPE) {
    end_client(handle->data);
  }
}
static void on_signal(uv_signal_t* signal, int number) {
  (void)number;
  uv_walk(signal->loop, end_handle, NULL);
}

static void check(int error, const char* what) {
  if (error == 0) return;
  fprintf(stderr, "%s: %s\n", what, uv_strerror(error));
  exit(EXIT_FAILURE);
}

static void load(const char* path) {
  typedef const rc_plugin* (*entry_function)(void);
  entry_function entry;
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(EXIT_FAILURE);
  }
  *(void**)&entry = dlsym(module, "rc_plugin_entry");
  if (entry == NULL || entry() == NULL || !complete_table(entry(), &plugin)) {
    fprintf(stderr, "%s: no backend of version %d\n", path,
            RC_PLUGIN_ABI_VERSION);
    exit(EXIT_FAILURE);
  }
}

/* Removes the path of a server that was killed; a live server answers. */
static void remove_stale(const char* path) {
  struct sockaddr_un address;
  const int probe = socket(AF_UNIX, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, path); /* its length has been checked */
  if (probe >= 0 &&
      connect(probe, (struct sockaddr*)&address, sizeof address) != 0 &&
      errno == ECONNREFUSED) {
    unlink(path);
  }
  if (probe >= 0) close(probe);
}

int main(int argc, char** argv) {
  uv_loop_t* loop = uv_default_loop();
  uv_pipe_t listener;
  uv_signal_t interrupt, terminate;
  mode_t mask;
  if (argc != 3 || strlen(argv[1]) >= PATH_BYTES) {
    fprintf(stderr,
            "usage: %s SOCKET MODULE.so\nSOCKET has at most %zu bytes\n",
            argv[0], PATH_BYTES - 1);
    return EXIT_FAILURE;
  }
  load(argv[2]);
  signal(SIGPIPE, SIG_IGN); /* a client that is gone is an error of a write */
  setenv("UV_THREADPOOL_SIZE", THREADS, 1);
  check(uv_pipe_init(loop, &listener, 0), "pipe");
  check(uv_signal_init(loop, &interrupt), "signal");
  check(uv_signal_init(loop, &terminate), "signal");
  listener.data = interrupt.data = terminate.data = NULL;
  check(uv_signal_start(&interrupt, on_signal, SIGINT), "signal");
  check(uv_signal_start(&terminate, on_signal, SIGTERM), "signal");
  remove_stale(argv[1]);
  mask = umask(S_IRWXG | S_IRWXO);
  check(uv_pipe_bind(&listener, argv[1]), argv[1]);
  check(uv_listen((uv_stream_t*)&listener, 16, on_connection), argv[1]);
  umask(mask);
  printf("%s serves at %s\n", plugin.name, argv[1]);
  fflush(stdout);
  return uv_run(loop, UV_RUN_DEFAULT);
}
