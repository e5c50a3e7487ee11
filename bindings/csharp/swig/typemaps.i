/* Typemaps of C#; see bindings/swig/arguments.i. Every argument of C is one
 * argument of C#, as is the custom of P/Invoke: the typemaps for two arguments
 * together are left out, and %apply has nothing to apply (warning 453).
 *
 * Arrays are pinned during a call, so that nothing is copied, and nothing is
 * left to release however a wrapper ends. Results that the caller must free, or
 * that the library owns, are an IntPtr; Memory reads and frees it. All
 * generated code is internal. */
%header %{
#include <runcible/runcible.h>

#include "mailbox.h"
#include "values.h"
%}
#pragma SWIG nowarn=453
#define RUNCIBLE_FAIL return $null
#define RUNCIBLE_NOTHING $result = RC_OK

%csconst(1);
%pragma(csharp) moduleclassmodifiers="internal static class"
%pragma(csharp) imclassclassmodifiers="internal static class"
%pragma(csharp) imclassimports="using System;"
%pragma(csharp) moduleimports="using System;"
%typemap(csimports) SWIGTYPE "using System;"
/* The generated code throws pending exceptions here. */
%pragma(csharp) imclasscode=%{
  internal static class SWIGPendingException {
    internal static bool Pending { get { return Raised.Pending; } }
    internal static Exception Retrieve() { return Raised.Retrieve(); }
  }

  internal static readonly bool Watched = Raised.Watch();
%}

%apply int { int32_t }
%apply unsigned int { uint32_t }
%apply long long { int64_t }
%apply unsigned long long { uint64_t, size_t }

/* Structs of options and reports. */
%typemap(csclassmodifiers) SWIGTYPE, SWIGTYPE*, SWIGTYPE&, SWIGTYPE[]
  "internal class"
%typemap(csbody) SWIGTYPE %{
  private global::System.Runtime.InteropServices.HandleRef swigCPtr;
  protected bool swigCMemOwn;

  internal $csclassname(IntPtr address, bool owned) {
    if (address == IntPtr.Zero) {
      throw new HostMemoryException("no memory for $csclassname");
    }
    swigCMemOwn = owned;
    swigCPtr =
        new global::System.Runtime.InteropServices.HandleRef(this, address);
  }

  internal static global::System.Runtime.InteropServices.HandleRef getCPtr(
      $csclassname of) {
    return of.swigCPtr;
  }
%}

/* Handles are References, which are SafeHandles: a call holds the handles that
 * it uses, so that closing one in another thread frees it only after the call.
 * A result is the address, for the constructor. */
%define runcible_output_handle(TYPE)
%typemap(csbase) TYPE, struct TYPE "Reference"
%typemap(csinterfaces) TYPE, struct TYPE ""
%typemap(csbody) TYPE, struct TYPE %{
  internal $csclassname(IntPtr address)
      : base(address, nativePINVOKE.delete_$csclassname) {
  }
%}
%typemap(csdispose) TYPE, struct TYPE ""
%typemap(csdisposing, methodname="Dispose", methodmodifiers="protected",
         parameters="bool disposing") TYPE, struct TYPE ""
%typemap(imtype) TYPE*, const TYPE*, struct TYPE* "IntPtr"
%typemap(csin,
         pre="    var use$csinput = Reference.Use($csinput);",
         post="      Reference.Leave($csinput, use$csinput);")
  TYPE*, const TYPE* "Reference.Opened($csinput, use$csinput)"
runcible_output(TYPE**, void*, IntPtr)
%typemap(in) TYPE** {
  runcible_in_use = 1;
  $1 = ($1_ltype)$input;
}
%enddef

/* A result that the library writes. */
%define runcible_output(C, CTYPE, CS)
%typemap(ctype) C "CTYPE*"
%typemap(imtype) C "out CS"
%typemap(cstype) C "out CS"
%typemap(csin) C "out $csinput"
%typemap(in) C "$1 = ($1_ltype)$input;"
%typemap(freearg) C ""
%typemap(argout) C ""
%enddef

/* A pinned array. */
%define runcible_array(C, CS)
%typemap(ctype) C "void*"
%typemap(imtype) C "CS[]"
%typemap(cstype) C "CS[]"
%typemap(csin) C "$csinput"
%typemap(in) C "$1 = ($1_ltype)$input;"
%typemap(freearg) C ""
%typemap(argout) C ""
%enddef

/* Statuses: wrappers note an exception, which is thrown when they return. */
%define runcible_status(TYPE)
%typemap(ctype) TYPE "int"
%typemap(imtype) TYPE "int"
%typemap(cstype) TYPE "void"
%typemap(csout, excode=SWIGEXCODE) TYPE {
    $imcall;$excode
  }
%enddef
runcible_status(rc_status)
runcible_status(mailbox_status)
runcible_status(runcible_kept)
runcible_status(symbol_status)

/* UTF-8; a NAME ends with a zero byte. */
runcible_array(const char* TEXT, byte)
runcible_array(const char* NAME, byte)
runcible_array(const char* text, byte)
runcible_array(const char* messages, byte)
runcible_array(const int32_t* TOKENS, int)
runcible_array(const int32_t* tokens, int)
runcible_array(const void* data, byte)
runcible_array(void* data, byte)
runcible_array(const int64_t* shape, long)
/* An array of RC_TENSOR_MAX_RANK elements. */
runcible_array(int64_t* shape, long)

runcible_output(const char** BORROWED, void*, IntPtr)
runcible_output(const char** prompt_text, void*, IntPtr)
runcible_output(char** OWNED, void*, IntPtr)
runcible_output(char** text, void*, IntPtr)
runcible_output(char** messages, void*, IntPtr)
runcible_output(int32_t** tokens, void*, IntPtr)
runcible_output(void** data, void*, IntPtr)
runcible_output(const float** logits, void*, IntPtr)
runcible_output(const float** rows, void*, IntPtr)
runcible_output(int32_t* OUTPUT, int, int)
runcible_output(int32_t* rank, int, int)
runcible_output(int64_t* OUTPUT, long long, long)
runcible_output(size_t* OUTPUT, unsigned long long, ulong)
%apply size_t* OUTPUT {
  size_t* length, size_t* count, size_t* size, size_t* rows, size_t* columns,
  size_t* vocabulary
}

/* Texts that the library owns. */
%typemap(ctype) const char*, char[ANY] "const void*"
%typemap(imtype) const char*, char[ANY] "IntPtr"
%typemap(cstype) const char*, char[ANY] "string"
%typemap(out) const char*, char[ANY] "$result = $1;"
%typemap(csout, excode=SWIGEXCODE) const char*, char[ANY] {
    string text = Memory.Text($imcall);$excode
    return text;
  }
%typemap(csvarout, excode=SWIGEXCODE2) const char*, char[ANY] %{
    get {
      string text = Memory.Text($imcall);$excode
      return text;
    }
%}

/* An event, as Event.Raw reads it: its type is -1 if none arrived. */
%typemap(ctype) rc_event* EVENT "runcible_event*"
%typemap(imtype) rc_event* EVENT "out Event.Raw"
%typemap(cstype) rc_event* EVENT "out Event.Raw"
%typemap(csin) rc_event* EVENT "out $csinput"
%typemap(in) rc_event* EVENT (rc_event event) {
  rc_event_init(&event, sizeof(event));
  event.type = -1;
  $input->type = -1;
  $1 = &event;
}
%typemap(argout) rc_event* EVENT {
  runcible_read_event($1, $input);
}

/* The first event of a list; see events_next and events_free. */
%typemap(ctype) kept_events* EVENTS "kept_events*"
%typemap(imtype) kept_events* EVENTS "out IntPtr"
%typemap(cstype) kept_events* EVENTS "out IntPtr"
%typemap(csin) kept_events* EVENTS "out $csinput"
%typemap(in) kept_events* EVENTS "$1 = $input;"

%typemap(ctype) runcible_event* RAW "runcible_event*"
%typemap(imtype) runcible_event* RAW "out Event.Raw"
%typemap(cstype) runcible_event* RAW "out Event.Raw"
%typemap(csin) runcible_event* RAW "out $csinput"
%typemap(in) runcible_event* RAW "$1 = $input;"
%typemap(ctype) void* ADDRESS, void* "void*"
%typemap(imtype) void* ADDRESS, void* "IntPtr"
%typemap(cstype) void* ADDRESS, void* "IntPtr"
%typemap(csin) void* ADDRESS "$csinput"
%typemap(csout, excode=SWIGEXCODE) void* {
    var result = $imcall;$excode
    return result;
  }

/* Opening and loading report their progress to a delegate, on their thread. */
%typemap(ctype) rc_progress_callback REPORT "rc_progress_callback"
%typemap(imtype) rc_progress_callback REPORT "Progress.Callback"
%typemap(cstype) rc_progress_callback REPORT "Progress.Callback"
%typemap(csin) rc_progress_callback REPORT "$csinput"
%typemap(in) rc_progress_callback REPORT "$1 = $input;"
%extend rc_backend_options {
  void set_progress(rc_progress_callback REPORT) { $self->progress = REPORT; }
}
%extend rc_backend_switch_options {
  void set_progress(rc_progress_callback REPORT) { $self->progress = REPORT; }
}
%extend rc_model_options {
  void set_progress(rc_progress_callback REPORT) { $self->progress = REPORT; }
}

/* The function of a custom op, by a handle; see asked.h. drop_callback releases
 * a function that no op was made of. */
%{
#include "asked.h"
%}
%extend rc_custom_op_options {
  runcible_kept set_callback(void* ADDRESS) {
    $self->user = runcible_hold(ADDRESS);
    if ($self->user == NULL) return 0;
    $self->function = runcible_on_compute;
    $self->release = runcible_on_released;
    return 1;
  }
  void drop_callback() { free($self->user); }
}
%typemap(ctype) runcible_custom_value* VALUE "runcible_custom_value*"
%typemap(imtype) runcible_custom_value* VALUE "out CustomValue.Raw"
%typemap(cstype) runcible_custom_value* VALUE "out CustomValue.Raw"
%typemap(csin) runcible_custom_value* VALUE "out $csinput"
%typemap(in) runcible_custom_value* VALUE "$1 = $input;"
runcible_output(const double** numbers, void*, IntPtr)
%apply size_t* OUTPUT { size_t* input_count, size_t* output_count }
%apply int64_t* OUTPUT { int64_t* begin, int64_t* end }
runcible_output(void** handle, void*, IntPtr)
runcible_output(void** call, void*, IntPtr)
%apply int32_t* OUTPUT { int32_t* idle }
%exception take_asked "$action"
%exception answer "$action"
%exception free_asked "$action"
%exception end_asking "$action"
%inline %{
/* Takes a request: `call` receives the call to compute, or NULL if the handle
 * is to be released. */
static void* take_asked(int64_t timeout_ms, void** handle, void** call,
                        int32_t* idle) {
  runcible_asked* asked = runcible_take_asked(timeout_ms, idle);
  *handle = asked == NULL ? NULL : asked->handle;
  *call = asked == NULL ? NULL : (void*)asked->call;
  return asked;
}

/* Answers a request. The text ends with a zero byte. */
static void answer(void* ADDRESS, int32_t code, const char* TEXT) {
  runcible_answer((runcible_asked*)ADDRESS, code, TEXT);
}

static void free_asked(void* ADDRESS) { free(ADDRESS); }

static void end_asking(void) { runcible_end_asking(); }
%}
%exception custom_call_describe "$action"
%exception custom_call_value "$action"
%exception custom_call_stopped "$action"
%exception copy_memory "$action"
%apply void* ADDRESS { void* to, void* from }
%inline %{
static void custom_call_describe(void* ADDRESS, size_t* input_count,
                                 size_t* output_count, size_t* count,
                                 int64_t* begin, int64_t* end,
                                 const double** numbers) {
  const rc_custom_call* call = (const rc_custom_call*)ADDRESS;
  *input_count = call->input_count;
  *output_count = call->output_count;
  *count = call->attribute_count;
  *begin = call->begin;
  *end = call->end;
  *numbers = call->attributes;
}

/* Describes the i-th value of the inputs followed by the outputs. */
static void custom_call_value(void* ADDRESS, int64_t i,
                              runcible_custom_value* VALUE) {
  const rc_custom_call* call = (const rc_custom_call*)ADDRESS;
  const size_t at = (size_t)i;
  const rc_op_value* value = at < call->input_count
                                 ? call->inputs[at]
                                 : call->outputs[at - call->input_count];
  VALUE->data = value->data;
  VALUE->bytes = value->bytes;
  VALUE->dtype = value->dtype;
  VALUE->rank = value->rank;
  memcpy(VALUE->shape, value->shape, sizeof(VALUE->shape));
}

static void copy_memory(void* to, void* from, uint64_t bytes) {
  if (bytes > 0) memcpy(to, from, bytes);
}

static int32_t custom_call_stopped(void* ADDRESS) {
  const rc_custom_call* call = (const rc_custom_call*)ADDRESS;
  return call->should_stop(call->stop_user);
}
%}

%exception events_next "$action"
%exception events_free "$action"
%exception free_memory "$action"
%inline %{
/* Reads an event of a list, and returns the next one. */
static void* events_next(void* ADDRESS, runcible_event* RAW) {
  const kept_event* kept = (const kept_event*)ADDRESS;
  runcible_read_event(&kept->event, RAW);
  RAW->key = kept->key;
  return kept->next;
}

static void events_free(void* ADDRESS) {
  kept_events events;
  events.first = (kept_event*)ADDRESS;
  kept_events_free(&events);
}

static void free_memory(void* ADDRESS) { rc_free(ADDRESS); }
%}
