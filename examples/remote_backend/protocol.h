/* The protocol of remote_backend.c and remote_server.c: frames of
 *
 *     u32 bytes of the payload, i32 code, payload
 *
 * over a stream socket. The backend's side sends a call and waits for the
 * answer before it sends another; the code of the answer is a status, and its
 * payload is the result of the call or, after a failure, the message. As long
 * as a call takes, the server sends a frame of REMOTE_ALIVE now and then, so
 * that silence means that the other side is gone.
 *
 * Frames are checked as they are read: no client gets more memory than they
 * have sent bytes for, and a payload that ends too early reads as zeros and is
 * marked by `broken`. All numbers are little-endian, as the plugin ABI has
 * them. */
#ifndef REMOTE_BACKEND_PROTOCOL_H
#define REMOTE_BACKEND_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

/* "contents of the call -> contents of the answer". Weights, buffers and
 * programs are u32 numbers that the server assigns, from 1 on. */
enum remote_call {
  REMOTE_HELLO = 1,   /* u32 REMOTE_MAGIC, u32 REMOTE_VERSION -> the same; comes
                         first */
  REMOTE_COUNT,       /* -> i32 devices */
  REMOTE_INFO,        /* i32 device -> device info */
  REMOTE_OPEN,        /* i32 device, i32 threads, i32 profile -> ; once */
  REMOTE_SUPPORTED,   /* u32 n, n values, op -> */
  REMOTE_WEIGHT_SIZE, /* weight info -> u64 bytes */
  REMOTE_CREATE_WEIGHT,   /* weight info, bytes -> u32 weight */
  REMOTE_DESTROY_WEIGHT,  /* u32 weight -> */
  REMOTE_CREATE_BUFFER,   /* u64 bytes -> u32 buffer */
  REMOTE_DESTROY_BUFFER,  /* u32 buffer -> */
  REMOTE_UPLOAD,          /* u32 buffer, u64 offset, bytes -> */
  REMOTE_DOWNLOAD,        /* u32 buffer, u64 offset, u64 n -> n bytes */
  REMOTE_COPY,            /* u32 target, u64 offset, u32 source, u64 offset,
                             u64 bytes -> */
  REMOTE_COMPILE,         /* program -> u32 program */
  REMOTE_DESTROY_PROGRAM, /* u32 program -> */
  REMOTE_RUN, /* u32 program, i64 rows, i64 outputs, i64 sequences, the bytes of
                 all inputs -> as WAIT */
  REMOTE_WAIT, /* i32 stop, u32 ms to wait -> i32 over; if it is over: i32
                  status, text message and, if the status is RC_OK, the bytes of
                  all outputs */
  REMOTE_TIME  /* u64 number of a time -> i64 op, i64 begin, i64 end */
};

#define REMOTE_MAGIC 0x65746d72u
#define REMOTE_VERSION 2u
/* The code of a frame that is not an answer, but announces one. */
#define REMOTE_ALIVE 1
/* The time that a call may take before the server sends REMOTE_ALIVE, and the
 * longest time that a WAIT waits. */
#define REMOTE_TICK_MS 20
#define REMOTE_MAX_PAYLOAD 0x7fffffffu

/* One frame, being written, received or read. */
struct frame {
  unsigned char* bytes; /* header and payload, by malloc */
  size_t size;          /* bytes written or received so far */
  size_t capacity;
  size_t at;  /* where reading goes on */
  int broken; /* read past the end, or written without memory */
};

/* Frees the memory; the frame is empty then, like {0}. */
void frame_clear(struct frame* frame);

/* Writing: begin, put, and finish, which puts the size of the payload into the
 * header; `more` bytes of it will be sent from elsewhere. finish returns
 * whether all succeeded. */
void frame_begin(struct frame* frame, int32_t code);
void put_i32(struct frame* frame, int32_t value);
void put_u32(struct frame* frame, uint32_t value);
void put_i64(struct frame* frame, int64_t value);
void put_u64(struct frame* frame, uint64_t value);
void put_bytes(struct frame* frame, const void* bytes, size_t size);
void put_text(struct frame* frame, const char* text);
int frame_finish(struct frame* frame, size_t more);

/* Receiving: returns the place for the next bytes and, in *size, the greatest
 * number of them; 0 when the frame is complete. NULL: there is no memory, or
 * the payload is too large. The caller adds the number of received bytes to
 * frame->size. */
unsigned char* frame_space(struct frame* frame, size_t* size);

/* Reading a complete frame. */
int32_t frame_code(const struct frame* frame);
size_t frame_rest(const struct frame* frame); /* bytes not yet read */
int32_t get_i32(struct frame* frame);
uint32_t get_u32(struct frame* frame);
int64_t get_i64(struct frame* frame);
uint64_t get_u64(struct frame* frame);
/* Returns the next bytes, in place in the frame; NULL if there are fewer. */
const void* get_bytes(struct frame* frame, size_t size);
/* Returns all bytes that follow, moved to an address aligned for any type; the
 * frame has been read then. */
const void* get_aligned_rest(struct frame* frame);
/* Reads a text, cut to the size of the target. */
void get_text(struct frame* frame, char* target, size_t capacity);
/* Reads the number of things that follow, each at least `smallest` bytes. */
uint32_t get_count(struct frame* frame, size_t smallest);

#endif
