/* The backend's end of the socket. Any thread may call at any time: calls wait
 * their turn, first come, first served. If the other side is gone, silent for
 * too long or sends invalid bytes, the connection is lost: that call and every
 * later one return RC_E_DEVICE_LOST with the reason. */
#ifndef REMOTE_BACKEND_CONNECTION_H
#define REMOTE_BACKEND_CONNECTION_H

#include <runcible/plugin.h>

#include "protocol.h"

struct connection;

/* Connects to the server at RUNCIBLE_REMOTE, a path. Returns RC_E_DEVICE with
 * the reason in `message` on failure. */
rc_status connect_to_server(struct connection** connection, char* message);
void disconnect(struct connection* connection); /* ignores NULL */

/* Makes one call, and returns its status. The caller has begun the request with
 * frame_begin; it is sent with `size` bytes of `data` at its end and cleared.
 * The caller must finish the answer, whatever the status. The other side may be
 * silent for no longer than limit_ms, nor than RUNCIBLE_REMOTE_TIMEOUT_MS. */
rc_status call(struct connection* connection, struct frame* request,
               const void* data, size_t size, int64_t limit_ms,
               struct frame* answer, char* message);
enum { NO_LIMIT = 0x7fffffff };

/* Clears the answer, and returns the status. If the answer to a successful call
 * was invalid (`sound` is 0, or bytes are missing or left), loses the
 * connection. */
rc_status finish(struct connection* connection, rc_status status, int sound,
                 struct frame* answer, char* message);

/* Loses the connection for a reason on this side. */
rc_status give_up(struct connection* connection, const char* why,
                  char* message);

#endif
