#include "client.h"

#include <stdlib.h>

#include "holdings.h"
#include "protocol.h"

static int client_count = 0;

/* A connection. It reads one call, answers it, and then reads the next. */
struct client {
  uv_pipe_t pipe;
  uv_timer_t timer; /* while an answer is awaited */
  uv_work_t call_work, run_work;
  uv_write_t answer_write, alive_write;
  struct holdings holdings;
  struct frame request, answer;
  int in_call;    /* in a thread */
  int in_run;     /* in a thread */
  int waiting;    /* for the run, in a RUN or WAIT */
  int alive_sent; /* and not yet taken */
  int welcome;    /* 0: the last call was not from our client */
  int ending;
  int open_handles;
};

static void read_call(struct client* client);

/* Answers. */

static void on_answered(uv_write_t* write, int error) {
  struct client* client = write->data;
  frame_clear(&client->answer);
  if (error != 0 || !client->welcome) {
    end_client(client);
  } else {
    read_call(client);
  }
}

static void answer(struct client* client) {
  uv_buf_t bytes;
  uv_timer_stop(&client->timer);
  client->waiting = 0;
  frame_clear(&client->request);
  if (!frame_finish(&client->answer, 0)) {
    put_failure(&client->answer, RC_E_OUT_OF_MEMORY,
                "the server has no memory for the answer");
    if (!frame_finish(&client->answer, 0)) client->ending = 1;
  }
  if (client->ending) {
    end_client(client);
    return;
  }
  bytes =
      uv_buf_init((char*)client->answer.bytes, (unsigned)client->answer.size);
  client->answer_write.data = client;
  if (uv_write(&client->answer_write, (uv_stream_t*)&client->pipe, &bytes, 1,
               on_answered) != 0) {
    end_client(client);
  }
}

static void fail(struct client* client, rc_status status, const char* message) {
  put_failure(&client->answer, status, message);
  answer(client);
}

static void on_alive_sent(uv_write_t* write, int error) {
  struct client* client = write->data;
  (void)error;
  client->alive_sent = 0;
}

/* Runs when a call takes long, or the run goes on beyond the time of its
 * WAIT. */
static void on_tick(uv_timer_t* timer) {
  static const struct {
    uint32_t payload;
    int32_t code;
  } alive = {0, REMOTE_ALIVE};
  struct client* client = timer->data;
  uv_buf_t bytes = uv_buf_init((char*)&alive, sizeof alive);
  if (client->waiting) {
    frame_begin(&client->answer, RC_OK);
    put_i32(&client->answer, 0);
    answer(client);
  } else if (!client->alive_sent) {
    client->alive_write.data = client;
    client->alive_sent =
        uv_write(&client->alive_write, (uv_stream_t*)&client->pipe, &bytes, 1,
                 on_alive_sent) == 0;
  }
}

/* Runs. */

static void run_in_thread(uv_work_t* work) {
  holdings_run(&((struct client*)work->data)->holdings);
}

static void after_run(uv_work_t* work, int error) {
  struct client* client = work->data;
  (void)error; /* work is never cancelled */
  client->in_run = 0;
  if (client->ending) {
    end_client(client);
  } else if (client->waiting) {
    holdings_end_run(&client->holdings, &client->answer);
    answer(client);
  }
}

/* Sends the answer at the end of the run, or when the time is over. */
static void await_run(struct client* client, uint64_t ms) {
  if (!client->in_run) {
    holdings_end_run(&client->holdings, &client->answer);
    answer(client);
    return;
  }
  client->waiting = 1;
  uv_timer_start(&client->timer, on_tick,
                 ms < REMOTE_TICK_MS ? ms : REMOTE_TICK_MS, 0);
}

static void start_run(struct client* client) {
  char message[RC_PLUGIN_MESSAGE_BYTES];
  const rc_status status =
      holdings_start_run(&client->holdings, &client->request, message);
  if (status != RC_OK) {
    fail(client, status, message);
    return;
  }
  client->run_work.data = client;
  client->in_run = 1;
  uv_queue_work(client->pipe.loop, &client->run_work, run_in_thread, after_run);
  await_run(client, REMOTE_TICK_MS);
}

static void wait_for_run(struct client* client) {
  const int stop = get_i32(&client->request) != 0;
  const uint32_t ms = get_u32(&client->request);
  if (client->request.broken || !client->holdings.run.under_way) {
    fail(client, RC_E_INVALID_ARGUMENT, "no run is under way");
    return;
  }
  if (stop) holdings_stop_run(&client->holdings);
  await_run(client, ms);
}

/* Other calls. */

static void call_in_thread(uv_work_t* work) {
  struct client* client = work->data;
  client->welcome =
      holdings_call(&client->holdings, &client->request, &client->answer);
}

static void after_call(uv_work_t* work, int error) {
  struct client* client = work->data;
  (void)error;
  client->in_call = 0;
  if (client->ending || client->answer.size == 0) {
    end_client(client);
  } else {
    answer(client);
  }
}

static void start_call(struct client* client) {
  client->call_work.data = client;
  client->in_call = 1;
  uv_timer_start(&client->timer, on_tick, REMOTE_TICK_MS, REMOTE_TICK_MS);
  uv_queue_work(client->pipe.loop, &client->call_work, call_in_thread,
                after_call);
}

/* Reading: libuv gets the space for the missing part of the frame. */

static void give_space(uv_handle_t* handle, size_t suggested, uv_buf_t* bytes) {
  struct client* client = handle->data;
  size_t size = 0;
  unsigned char* space = frame_space(&client->request, &size);
  (void)suggested;
  *bytes = uv_buf_init((char*)space, space == NULL ? 0 : (unsigned)size);
}

static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* bytes) {
  struct client* client = stream->data;
  size_t missing;
  (void)bytes;
  if (count == 0) return;
  if (count < 0) { /* gone, or there is no space for its bytes */
    end_client(client);
    return;
  }
  client->request.size += (size_t)count;
  if (frame_space(&client->request, &missing) == NULL) {
    end_client(client);
    return;
  }
  if (missing > 0) return;
  uv_read_stop(stream);
  if (client->holdings.device == NULL) {
    start_call(client);
  } else if (frame_code(&client->request) == REMOTE_RUN) {
    start_run(client);
  } else if (frame_code(&client->request) == REMOTE_WAIT) {
    wait_for_run(client);
  } else {
    start_call(client);
  }
}

static void read_call(struct client* client) {
  if (client->ending ||
      uv_read_start((uv_stream_t*)&client->pipe, give_space, on_read) != 0) {
    end_client(client);
  }
}

/* The end of a client: first of its work in threads, then of its holdings, then
 * of the handles. Called again whenever one of these is over. */

static void on_closed(uv_handle_t* handle) {
  struct client* client = handle->data;
  if (--client->open_handles > 0) return;
  frame_clear(&client->request);
  frame_clear(&client->answer);
  free(client);
  --client_count;
}

static void give_back_in_thread(uv_work_t* work) {
  holdings_end(&((struct client*)work->data)->holdings);
}

static void after_giving_back(uv_work_t* work, int error) {
  struct client* client = work->data;
  (void)error;
  uv_close((uv_handle_t*)&client->pipe, on_closed);
  uv_close((uv_handle_t*)&client->timer, on_closed);
}

void end_client(struct client* client) {
  enum { GIVING_BACK = 2 };
  if (client->ending == GIVING_BACK) return;
  client->ending = 1;
  uv_read_stop((uv_stream_t*)&client->pipe);
  uv_timer_stop(&client->timer);
  holdings_stop_run(&client->holdings);
  if (client->in_call || client->in_run) return;
  client->ending = GIVING_BACK;
  client->call_work.data = client;
  uv_queue_work(client->pipe.loop, &client->call_work, give_back_in_thread,
                after_giving_back);
}

void accept_client(uv_stream_t* listener, const rc_plugin* plugin) {
  struct client* client = calloc(1, sizeof *client);
  if (client == NULL || !holdings_init(&client->holdings, plugin)) {
    free(client); /* libuv keeps the next ones waiting, too */
    return;
  }
  ++client_count;
  client->open_handles = 2;
  uv_pipe_init(listener->loop, &client->pipe, 0);
  uv_timer_init(listener->loop, &client->timer);
  client->pipe.data = client;
  client->timer.data = client;
  if (uv_accept(listener, (uv_stream_t*)&client->pipe) != 0 ||
      client_count > MAX_CLIENTS) {
    end_client(client);
  } else {
    read_call(client);
  }
}
