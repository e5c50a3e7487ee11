#include "protocol.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 8, FIRST_CAPACITY = 1 << 12 };

void frame_clear(struct frame* frame) {
  free(frame->bytes);
  memset(frame, 0, sizeof *frame);
}

/* Makes room for `capacity` bytes; the memory at least doubles. */
static int reserve(struct frame* frame, size_t capacity) {
  size_t wanted = frame->capacity * 2;
  unsigned char* bytes;
  if (capacity <= frame->capacity) return 1;
  if (wanted < capacity) wanted = capacity;
  if (wanted < FIRST_CAPACITY) wanted = FIRST_CAPACITY;
  bytes = realloc(frame->bytes, wanted);
  if (bytes == NULL) return 0;
  frame->bytes = bytes;
  frame->capacity = wanted;
  return 1;
}

void frame_begin(struct frame* frame, int32_t code) {
  frame_clear(frame);
  put_u32(frame, 0);
  put_i32(frame, code);
}

void put_bytes(struct frame* frame, const void* bytes, size_t size) {
  if (size == 0 || frame->broken) return;
  if (size > REMOTE_MAX_PAYLOAD || !reserve(frame, frame->size + size)) {
    frame->broken = 1;
    return;
  }
  memcpy(frame->bytes + frame->size, bytes, size);
  frame->size += size;
}
void put_i32(struct frame* frame, int32_t value) {
  put_bytes(frame, &value, sizeof value);
}
void put_u32(struct frame* frame, uint32_t value) {
  put_bytes(frame, &value, sizeof value);
}
void put_i64(struct frame* frame, int64_t value) {
  put_bytes(frame, &value, sizeof value);
}
void put_u64(struct frame* frame, uint64_t value) {
  put_bytes(frame, &value, sizeof value);
}
void put_text(struct frame* frame, const char* text) {
  const size_t size = strlen(text);
  put_u32(frame, (uint32_t)size);
  put_bytes(frame, text, size);
}

int frame_finish(struct frame* frame, size_t more) {
  uint32_t payload;
  if (frame->broken || more > REMOTE_MAX_PAYLOAD ||
      frame->size - HEADER > REMOTE_MAX_PAYLOAD - more) {
    return 0;
  }
  payload = (uint32_t)(frame->size - HEADER + more);
  memcpy(frame->bytes, &payload, sizeof payload);
  return 1;
}

unsigned char* frame_space(struct frame* frame, size_t* size) {
  size_t whole = HEADER;
  if (frame->size >= HEADER) {
    uint32_t payload;
    memcpy(&payload, frame->bytes, sizeof payload);
    if (payload > REMOTE_MAX_PAYLOAD) return NULL;
    whole += payload;
    frame->at = HEADER; /* reading will begin here */
  }
  /* As many bytes again as have come. */
  *size = whole - frame->size;
  if (*size > FIRST_CAPACITY && *size > frame->size) {
    *size = frame->size > FIRST_CAPACITY ? frame->size : FIRST_CAPACITY;
  }
  if (!reserve(frame, frame->size + *size)) return NULL;
  return frame->bytes + frame->size;
}

int32_t frame_code(const struct frame* frame) {
  int32_t code;
  memcpy(&code, frame->bytes + sizeof(uint32_t), sizeof code);
  return code;
}

size_t frame_rest(const struct frame* frame) { return frame->size - frame->at; }

const void* get_bytes(struct frame* frame, size_t size) {
  const unsigned char* found = frame->bytes + frame->at;
  if (frame->broken || size > frame_rest(frame)) {
    frame->broken = 1;
    return NULL;
  }
  frame->at += size;
  return found;
}
const void* get_aligned_rest(struct frame* frame) {
  memmove(frame->bytes, frame->bytes + frame->at, frame_rest(frame));
  frame->at = frame->size;
  return frame->bytes;
}
static void get(struct frame* frame, void* target, size_t size) {
  const void* bytes = get_bytes(frame, size);
  if (bytes == NULL) {
    memset(target, 0, size);
  } else {
    memcpy(target, bytes, size);
  }
}
int32_t get_i32(struct frame* frame) {
  int32_t value;
  get(frame, &value, sizeof value);
  return value;
}
uint32_t get_u32(struct frame* frame) {
  uint32_t value;
  get(frame, &value, sizeof value);
  return value;
}
int64_t get_i64(struct frame* frame) {
  int64_t value;
  get(frame, &value, sizeof value);
  return value;
}
uint64_t get_u64(struct frame* frame) {
  uint64_t value;
  get(frame, &value, sizeof value);
  return value;
}
void get_text(struct frame* frame, char* target, size_t capacity) {
  const size_t size = get_u32(frame);
  const void* text = get_bytes(frame, size);
  const size_t kept = size < capacity ? size : capacity - 1;
  target[0] = '\0';
  if (text == NULL) return;
  memcpy(target, text, kept);
  target[kept] = '\0';
}
uint32_t get_count(struct frame* frame, size_t smallest) {
  const uint32_t count = get_u32(frame);
  if (count <= frame_rest(frame) / smallest) return count;
  frame->broken = 1;
  return 0;
}
