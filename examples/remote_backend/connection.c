#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

enum { DEFAULT_LIMIT_MS = 10000 };

struct connection {
  int socket;
  char path[sizeof((struct sockaddr_un*)0)->sun_path];
  int64_t limit_ms; /* of silence */
  uv_mutex_t mutex; /* protects the members that follow */
  uv_cond_t turn_over;
  uint64_t next_turn, now_serving;
  char lost[160]; /* the reason; "" while the other side is there */
};

static void take_turn(struct connection* c) {
  uv_mutex_lock(&c->mutex);
  const uint64_t mine = c->next_turn++;
  while (c->now_serving != mine) uv_cond_wait(&c->turn_over, &c->mutex);
  uv_mutex_unlock(&c->mutex);
}
static void end_turn(struct connection* c) {
  uv_mutex_lock(&c->mutex);
  ++c->now_serving;
  uv_cond_broadcast(&c->turn_over);
  uv_mutex_unlock(&c->mutex);
}

/* Loses the connection; the first reason stays. */
static void lose(struct connection* c, const char* why) {
  uv_mutex_lock(&c->mutex);
  if (c->lost[0] == '\0') snprintf(c->lost, sizeof c->lost, "%s", why);
  uv_mutex_unlock(&c->mutex);
  shutdown(c->socket, SHUT_RDWR); /* notifies the other side if it lives */
}
static rc_status report_loss(struct connection* c, char* message) {
  uv_mutex_lock(&c->mutex);
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
           "the connection to %s is lost: %s; open the device again", c->path,
           c->lost);
  uv_mutex_unlock(&c->mutex);
  return RC_E_DEVICE_LOST;
}
static int is_lost(struct connection* c) {
  uv_mutex_lock(&c->mutex);
  const int lost = c->lost[0] != '\0';
  uv_mutex_unlock(&c->mutex);
  return lost;
}

/* Waits until the socket is ready; returns 0 if the connection is lost. */
static int await(struct connection* c, short events, int64_t limit_ms) {
  const uint64_t begin = uv_hrtime();
  for (;;) {
    struct pollfd watched = {c->socket, events, 0};
    const int64_t left = limit_ms - (int64_t)((uv_hrtime() - begin) / 1000000);
    const int ready = poll(&watched, 1, left > 0 ? (int)left : 0);
    if (ready > 0) return 1;
    if (ready == 0) {
      char why[sizeof c->lost];
      snprintf(why, sizeof why, "the other side was silent for %d ms",
               (int)limit_ms);
      lose(c, why);
      return 0;
    }
    if (errno != EINTR) {
      lose(c, strerror(errno));
      return 0;
    }
  }
}

/* Handles a send or recv of no bytes; returns 1 to try again. */
static int try_again(struct connection* c, ssize_t count, short events,
                     int64_t limit_ms) {
  if (count == 0 || errno == ECONNRESET || errno == EPIPE) {
    lose(c, "the other side has closed it, or its process has ended");
    return 0;
  }
  if (errno == EINTR) return 1;
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    return await(c, events, limit_ms);
  }
  lose(c, strerror(errno));
  return 0;
}

static int send_all(struct connection* c, const void* bytes, size_t size,
                    int64_t limit_ms) {
  const char* from = bytes;
  while (size > 0) {
    /* Without a signal if the other side is gone. */
    const ssize_t sent = send(c->socket, from, size, MSG_NOSIGNAL);
    if (sent > 0) {
      from += sent;
      size -= (size_t)sent;
    } else if (!try_again(c, sent, POLLOUT, limit_ms)) {
      return 0;
    }
  }
  return 1;
}

static int receive(struct connection* c, struct frame* frame,
                   int64_t limit_ms) {
  for (;;) {
    size_t size;
    unsigned char* space = frame_space(frame, &size);
    if (space == NULL) {
      lose(c, "it sent more than fits into memory");
      return 0;
    }
    if (size == 0) return 1;
    const ssize_t received = recv(c->socket, space, size, 0);
    if (received > 0) {
      frame->size += (size_t)received;
    } else if (!try_again(c, received, POLLIN, limit_ms)) {
      return 0;
    }
  }
}

/* Makes one call on a connection. Requires: it has the turn. */
static int exchange(struct connection* c, struct frame* request,
                    const void* data, size_t size, int64_t limit_ms,
                    struct frame* answer) {
  if (limit_ms > c->limit_ms) limit_ms = c->limit_ms;
  if (!send_all(c, request->bytes, request->size, limit_ms) ||
      !send_all(c, data, size, limit_ms)) {
    return 0;
  }
  do {
    frame_clear(answer);
    if (!receive(c, answer, limit_ms)) return 0;
  } while (frame_code(answer) == REMOTE_ALIVE);
  return 1;
}

rc_status give_up(struct connection* c, const char* why, char* message) {
  lose(c, why);
  return report_loss(c, message);
}

rc_status call(struct connection* c, struct frame* request, const void* data,
               size_t size, int64_t limit_ms, struct frame* answer,
               char* message) {
  rc_status status;
  memset(answer, 0, sizeof *answer);
  if (!frame_finish(request, size)) {
    frame_clear(request);
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
             "there is no memory for a call with %zu bytes, or they are more "
             "than %u",
             size, REMOTE_MAX_PAYLOAD);
    return RC_E_OUT_OF_MEMORY;
  }
  take_turn(c);
  const int answered =
      !is_lost(c) && exchange(c, request, data, size, limit_ms, answer);
  end_turn(c);
  frame_clear(request);
  if (!answered) return report_loss(c, message);
  status = frame_code(answer);
  if (status != RC_OK) {
    get_text(answer, message, RC_PLUGIN_MESSAGE_BYTES);
    if (status > 0) return finish(c, RC_OK, 0, answer, message);
  }
  return status;
}

rc_status finish(struct connection* c, rc_status status, int sound,
                 struct frame* answer, char* message) {
  if (status == RC_OK &&
      (!sound || answer->broken || frame_rest(answer) != 0)) {
    status = give_up(c, "it sent an invalid answer", message);
  }
  frame_clear(answer);
  return status;
}

/* Checks by the first call that it is our server, of our version. */
static rc_status greet(struct connection* c, char* message) {
  struct frame request = {0}, answer;
  rc_status status;
  int same;
  frame_begin(&request, REMOTE_HELLO);
  put_u32(&request, REMOTE_MAGIC);
  put_u32(&request, REMOTE_VERSION);
  status = call(c, &request, NULL, 0, NO_LIMIT, &answer, message);
  same = status != RC_OK || (get_u32(&answer) == REMOTE_MAGIC &&
                             get_u32(&answer) == REMOTE_VERSION);
  return finish(c, status, same, &answer, message);
}

static int connect_socket(struct connection* c) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, c->path, sizeof c->path);
  c->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return c->socket >= 0 &&
         connect(c->socket, (struct sockaddr*)&address, sizeof address) == 0;
}

void disconnect(struct connection* c) {
  if (c == NULL) return;
  if (c->socket >= 0) close(c->socket);
  uv_cond_destroy(&c->turn_over);
  uv_mutex_destroy(&c->mutex);
  free(c);
}

static struct connection* make_connection(void) {
  struct connection* c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  c->socket = -1;
  if (uv_mutex_init(&c->mutex) == 0) {
    if (uv_cond_init(&c->turn_over) == 0) return c;
    uv_mutex_destroy(&c->mutex);
  }
  free(c);
  return NULL;
}

rc_status connect_to_server(struct connection** connection, char* message) {
  const char* path = getenv("RUNCIBLE_REMOTE");
  const char* limit = getenv("RUNCIBLE_REMOTE_TIMEOUT_MS");
  const long limit_ms = limit == NULL ? 0 : strtol(limit, NULL, 10);
  struct connection* c;
  rc_status status;
  *connection = NULL;
  if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof c->path) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
             "RUNCIBLE_REMOTE has to name the socket of a remote_server, with "
             "fewer than %zu bytes",
             sizeof c->path);
    return RC_E_DEVICE;
  }
  c = make_connection();
  if (c == NULL) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "out of memory");
    return RC_E_OUT_OF_MEMORY;
  }
  strcpy(c->path, path);
  c->limit_ms =
      limit_ms > 0 && limit_ms < NO_LIMIT ? limit_ms : DEFAULT_LIMIT_MS;
  if (!connect_socket(c)) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
             "no remote_server answers at %s: %s", path, strerror(errno));
    disconnect(c);
    return RC_E_DEVICE;
  }
  status = greet(c, message);
  if (status != RC_OK) {
    disconnect(c);
    return status;
  }
  *connection = c;
  return RC_OK;
}
