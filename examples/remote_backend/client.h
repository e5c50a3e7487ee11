/* One client of the server: its connection on the loop, the threads that work
 * for it, and its end. */
#ifndef REMOTE_BACKEND_CLIENT_H
#define REMOTE_BACKEND_CLIENT_H

#include <runcible/plugin.h>
#include <uv.h>

struct client;

/* A client takes two threads of the loop's pool at most, for a run and for a
 * call; there are enough for all. */
enum { MAX_CLIENTS = 64 };
#define THREADS "128"

/* Accepts a new client. The data of its handles is the client. */
void accept_client(uv_stream_t* listener, const rc_plugin* plugin);

/* Stops its run, releases its holdings, and closes the connection. */
void end_client(struct client* client);

#endif
