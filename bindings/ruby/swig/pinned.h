/* Memory of IO::Buffers that tensors are made of and read into, and pinned
 * memory as an IO::Buffer; included by the wrapper alone. The interpreter's
 * lock is kept meanwhile, so that no other thread frees a buffer. */
#ifndef RUNCIBLE_RUBY_PINNED_H
#define RUNCIBLE_RUBY_PINNED_H

#include <ruby.h>
#include <ruby/io/buffer.h>
#include <runcible/runcible.h>

inline void runcible_need_buffer(VALUE buffer) {
  if (!RTEST(rb_obj_is_kind_of(buffer, rb_cIOBuffer))) {
    rb_raise(rb_eTypeError, "the memory must be an IO::Buffer, not %" PRIsVALUE,
             rb_obj_class(buffer));
  }
}

inline rc_status runcible_copy_buffer(rc_backend* backend, rc_dtype dtype,
                                      const int64_t* shape, int32_t rank,
                                      VALUE buffer, rc_tensor** tensor) {
  const void* data = nullptr;
  size_t size = 0;
  runcible_need_buffer(buffer);
  rb_io_buffer_get_bytes_for_reading(buffer, &data, &size);
  return rc_tensor_from_data(backend, dtype, shape, rank, data, size, tensor);
}

/* Reads the numbers to the beginning of the buffer. */
inline rc_status runcible_read_buffer(rc_tensor* tensor, VALUE buffer) {
  void* data = nullptr;
  size_t room = 0;
  size_t size = 0;
  runcible_need_buffer(buffer);
  rb_io_buffer_get_bytes_for_writing(buffer, &data, &room);
  const rc_status status = rc_tensor_size(tensor, nullptr, &size);
  if (status != RC_OK) return status;
  return rc_tensor_read(tensor, data, size < room ? size : room);
}

/* The buffer is locked, so that only runcible_hide_pinned frees it, and no call
 * moves the memory to another buffer, which would not keep it. */
inline rc_status runcible_show_pinned(rc_pinned* pinned, VALUE* buffer) {
  void* data = nullptr;
  size_t size = 0;
  const rc_status status = rc_pinned_memory(pinned, &data, &size);
  if (status != RC_OK) return status;
  *buffer = rb_io_buffer_new(data, size, RB_IO_BUFFER_EXTERNAL);
  rb_io_buffer_lock(*buffer);
  return RC_OK;
}

/* Invalidates parts of the buffer, too. */
inline void runcible_hide_pinned(VALUE buffer) {
  rb_io_buffer_unlock(buffer);
  rb_io_buffer_free(buffer);
}

#endif /* RUNCIBLE_RUBY_PINNED_H */
