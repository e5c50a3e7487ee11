/* Memory that devices transfer numbers to and from directly. The handle owns
 * it, and each language exposes it as memory in its own way. Tcl has no such
 * type; see its README. */
runcible_handle(rc_pinned)

%inline %{
static rc_status pinned_make(rc_backend* backend, const char* device_id,
                             int64_t room, rc_pinned** pinned) {
  return rc_pinned_create(backend, device_id, room < 0 ? 0 : (size_t)room,
                          pinned);
}
%}

/* The other languages borrow the memory that they expose. */
#if !defined(SWIGPYTHON) && !defined(SWIGJAVA) && !defined(SWIGPERL)
%{
/* An rc_tensor_borrow_callback. */
static void runcible_release_pinned(void* pinned) {
  rc_pinned_release((rc_pinned*)pinned);
}
%}
%inline %{
/* Makes a tensor of `room` bytes from `first` on, or of all that follow, which
 * keeps the memory. */
static rc_status pinned_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank,
                               rc_pinned* pinned, int64_t first, int64_t room,
                               rc_tensor** tensor) {
  void* data = NULL;
  size_t size = 0;
  size_t from;
  rc_status status = rc_pinned_memory(pinned, &data, &size);
  if (status != RC_OK) return status;
  from = first < 0 || (uint64_t)first > size ? size : (size_t)first;
  size -= from;
  if (room >= 0 && (uint64_t)room < size) size = (size_t)room;
  status = rc_tensor_borrow(backend, dtype, shape, rank, (char*)data + from,
                            size, runcible_release_pinned,
                            rc_pinned_retain(pinned), tensor);
  if (status != RC_OK) rc_pinned_release(pinned);
  return status;
}
%}
#endif
