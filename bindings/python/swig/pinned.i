/* Memory that devices move numbers from and to by themselves; other languages
 * have no arrays of memory that is not theirs. */
runcible_handle(rc_pinned)

%inline %{
static rc_status pinned_make(rc_backend* backend, const char* device_id,
                             size_t room, rc_pinned** pinned) {
  return rc_pinned_create(backend, device_id, room, pinned);
}
static rc_status pinned_address(rc_pinned* pinned, size_t* bytes) {
  void* data = NULL;
  const rc_status status = rc_pinned_memory(pinned, &data, NULL);
  *bytes = (size_t)data;
  return status;
}
/* `data` is (address, size), of memory that may be written. */
static rc_status tensor_read_into(rc_tensor* tensor, const void* data,
                                  size_t bytes) {
  return rc_tensor_read(tensor, (void*)data, bytes);
}
%}
