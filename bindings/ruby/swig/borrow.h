/* Memory of IO::Buffers that tensors borrow; included by the wrapper alone. The
 * library reports the end of a loan on any thread, but only a thread that holds
 * the interpreter's lock may unlock and release the buffer: that is done when a
 * handle is closed, and before the next loan. */
#ifndef RUNCIBLE_RUBY_BORROW_H
#define RUNCIBLE_RUBY_BORROW_H

#include <ruby.h>
#include <ruby/io/buffer.h>
#include <runcible/runcible.h>

#include <atomic>
#include <memory>

struct runcible_loan {
  VALUE buffer;
  std::atomic<bool> ended{false};
  runcible_loan* next = nullptr;
};

/* All loans; protected by the interpreter's lock. */
inline runcible_loan* runcible_loans = nullptr;

inline void runcible_mark_loans(void*) {
  for (runcible_loan* loan = runcible_loans; loan != nullptr;
       loan = loan->next) {
    rb_gc_mark(loan->buffer);
  }
}

inline const rb_data_type_t runcible_loans_type = {
    "runcible_loans", {runcible_mark_loans, nullptr, nullptr}};

/* The object by which the collector finds the buffers. */
inline void runcible_watch_loans() {
  static VALUE watcher = Qnil;
  if (!NIL_P(watcher)) return;
  rb_gc_register_address(&watcher);
  watcher =
      TypedData_Wrap_Struct(rb_cObject, &runcible_loans_type, &runcible_loans);
}

/* Returns whether a buffer is lent, apart from the loan `but`. */
inline bool runcible_is_lent(VALUE buffer, const runcible_loan* but) {
  for (const runcible_loan* loan = runcible_loans; loan != nullptr;
       loan = loan->next) {
    if (loan != but && loan->buffer == buffer) return true;
  }
  return false;
}

inline void runcible_sweep_loans() {
  for (runcible_loan** at = &runcible_loans; *at != nullptr;) {
    runcible_loan* const loan = *at;
    if (!loan->ended.load()) {
      at = &loan->next;
      continue;
    }
    if (!runcible_is_lent(loan->buffer, loan)) {
      rb_io_buffer_unlock(loan->buffer);
    }
    *at = loan->next;
    delete loan;
  }
}

inline void runcible_end_loan(void* user) {
  static_cast<runcible_loan*>(user)->ended = true;
}

/* Raises Ruby's error for a buffer that is read-only, or locked by others. */
inline rc_status runcible_borrow(rc_backend* backend, rc_dtype dtype,
                                 const int64_t* shape, int32_t rank,
                                 VALUE buffer, rc_tensor** tensor) {
  void* data = nullptr;
  size_t size = 0;
  if (!RTEST(rb_obj_is_kind_of(buffer, rb_cIOBuffer))) {
    rb_raise(rb_eTypeError,
             "borrowed memory must be an IO::Buffer, not %" PRIsVALUE,
             rb_obj_class(buffer));
  }
  runcible_watch_loans();
  runcible_sweep_loans();
  rb_io_buffer_get_bytes_for_writing(buffer, &data, &size);
  if (!runcible_is_lent(buffer, nullptr)) rb_io_buffer_lock(buffer);
  auto loan = std::make_unique<runcible_loan>();
  loan->buffer = buffer;
  const rc_status status =
      rc_tensor_borrow(backend, dtype, shape, rank, data, size,
                       runcible_end_loan, loan.get(), tensor);
  if (status != RC_OK) {
    if (!runcible_is_lent(buffer, nullptr)) rb_io_buffer_unlock(buffer);
    return status;
  }
  loan->next = runcible_loans;
  runcible_loans = loan.release();
  return status;
}

#endif /* RUNCIBLE_RUBY_BORROW_H */
