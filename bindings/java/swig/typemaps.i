/* Typemaps of Java; see bindings/swig/arguments.i. The wrapper is C++, so that
 * destructors release what an argument holds, however the wrapper is left.
 *
 * The generated code is visible only within the package `runcible`. Texts are
 * byte[] of UTF-8 here, which Text makes and reads. Functions that return a
 * status return an Object: their results, of the type that the typemap names.
 */
%header %{
#include <runcible/runcible.h>

#include "buffers.hh"
#include "custom.hh"
#include "mailbox.h"
#include "values.hh"

#define runcible_raise(STATUS, MESSAGE) \
  runcible::raise(jenv, STATUS, MESSAGE)
%}
#define RUNCIBLE_FAIL return $null
#define RUNCIBLE_NOTHING $result = NULL

/* Nothing of it is public, and constants are compile-time numbers. */
%javaconst(1);
%pragma(java) moduleclassmodifiers="final class"
%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) jniclasscode=%{
  static {
    Library.load();
    abi_check(Native.VERSION_MAJOR, Native.VERSION_MINOR);
  }
%}

/* Types that SWIG treats as 32 bits, and types of the shared files. */
%apply int { int32_t }
%apply long long { int64_t }

/* Structs are closed by the code that makes them, not by the collector. */
%typemap(javaclassmodifiers) SWIGTYPE, SWIGTYPE*, SWIGTYPE&, SWIGTYPE[]
  "final class"
%typemap(javainterfaces) SWIGTYPE "AutoCloseable"
%typemap(javafinalize) SWIGTYPE ""
%typemap(javabody) SWIGTYPE %{
  private long swigCPtr;
  private boolean swigCMemOwn;

  $javaclassname(long address, boolean owned) {
    if (address == 0) {
      throw new OutOfMemoryError("no memory for $javaclassname");
    }
    swigCPtr = address;
    swigCMemOwn = owned;
  }

  static long getCPtr($javaclassname of) {
    return of == null ? 0 : of.swigCPtr;
  }
%}
%typemap(javadestruct, methodname="close", methodmodifiers="public synchronized")
  SWIGTYPE {
    if (swigCPtr != 0 && swigCMemOwn) {
      swigCMemOwn = false;
      $jnicall;
    }
    swigCPtr = 0;
  }

/* Handles are Java's References: a call holds the handles that it uses, so that
 * closing one in another thread frees it only after the call. */
%define runcible_output_handle(TYPE)
%typemap(javabase) TYPE "Reference"
%typemap(javainterfaces) TYPE ""
%typemap(javabody) TYPE %{
  $javaclassname(long address) {
    super(address);
  }
%}
%typemap(javadestruct, methodname="free", methodmodifiers="@Override",
         parameters="long swigCPtr") TYPE {
    $jnicall;
  }
%typemap(javain,
         pre="    long use$javainput = Reference.acquire($javainput);",
         post="      Reference.release($javainput, use$javainput);")
  TYPE*, const TYPE* "Reference.opened($javainput, use$javainput)"
/* Returns a Long: the address, for the constructor of the Reference. */
%typemap(in, numinputs=0) TYPE** (TYPE* made = NULL) {
  runcible_in_use = 1;
  $1 = &made;
}
%typemap(argout) TYPE** {
  $result = runcible::number(jenv, (jlong)(intptr_t)*$1);
}
%enddef

/* Statuses become an exception, or the result of the argout typemaps. */
%define runcible_status(TYPE)
%typemap(jni) TYPE "jobject"
%typemap(jtype) TYPE "Object"
%typemap(jstype) TYPE "Object"
%typemap(javaout) TYPE { return $jnicall; }
%enddef
runcible_status(rc_status)
runcible_status(mailbox_status)
runcible_status(runcible_kept)
runcible_status(symbol_status)

/* The types of an argument or a result in JNI and in Java. */
%define runcible_java_type(C, JNI, JAVA)
%typemap(jni) C #JNI
%typemap(jtype) C #JAVA
%typemap(jstype) C #JAVA
%typemap(javain) C "$javainput"
%typemap(javaout) C { return $jnicall; }
%enddef

runcible_java_type((const char* TEXT, size_t LENGTH), jbyteArray, byte[])
%typemap(in) (const char* TEXT, size_t LENGTH) (runcible::Bytes kept) {
  if (!kept.take(jenv, $input)) return $null;
  $1 = kept.data();
  $2 = kept.size();
}

runcible_java_type(const char* NAME, jbyteArray, byte[])
%typemap(in) const char* NAME (runcible::Name kept) {
  if (!kept.take(jenv, $input)) return $null;
  $1 = kept.data();
}
%typemap(freearg) const char* NAME ""

/* Texts of the library, as members and as results of functions. */
runcible_java_type(const char*, jbyteArray, byte[])
%typemap(out) const char* {
  $result = runcible::bytes(jenv, $1, $1 == NULL ? 0 : strlen($1));
}
%apply const char* { char[ANY] }

%typemap(in, numinputs=0) const char** BORROWED (const char* text = NULL) {
  $1 = ($1_ltype)&text;
}
%typemap(argout) const char** BORROWED {
  $result = runcible::append(jenv, $result,
                             runcible::bytes(jenv, *$1, strlen(*$1)));
}

%typemap(in, numinputs=0) (const char** BORROWED, size_t* LENGTH)
    (const char* text = NULL, size_t length = 0) {
  $1 = ($1_ltype)&text;
  $2 = &length;
}
%typemap(argout) (const char** BORROWED, size_t* LENGTH) {
  $result =
      runcible::append(jenv, $result, runcible::bytes(jenv, *$1, *$2));
}

%typemap(in, numinputs=0) char** OWNED (runcible::Freed<char> text) {
  $1 = &text.memory;
}
%typemap(argout) char** OWNED {
  $result = runcible::bytes(jenv, *$1, strlen(*$1));
}

%typemap(in, numinputs=0) (char** OWNED, size_t* LENGTH)
    (runcible::Freed<char> text, size_t length = 0) {
  $1 = &text.memory;
  $2 = &length;
}
%typemap(argout) (char** OWNED, size_t* LENGTH) {
  $result = runcible::bytes(jenv, *$1, *$2);
}

runcible_java_type((const int32_t* TOKENS, size_t COUNT), jintArray, int[])
%typemap(in) (const int32_t* TOKENS, size_t COUNT) (runcible::Ints kept) {
  if (!kept.take(jenv, $input)) return $null;
  $1 = ($1_ltype)kept.data();
  $2 = kept.size();
}

%typemap(in, numinputs=0) (int32_t** TOKENS, size_t* COUNT)
    (runcible::Freed<int32_t> tokens, size_t count = 0) {
  $1 = &tokens.memory;
  $2 = &count;
}
%typemap(argout) (int32_t** TOKENS, size_t* COUNT) {
  $result = runcible::ints(jenv, *$1, *$2);
}

runcible_java_type((const void* BYTES, size_t SIZE), jbyteArray, byte[])
%typemap(in) (const void* BYTES, size_t SIZE) (runcible::Bytes kept) {
  if (!kept.take(jenv, $input)) return $null;
  $1 = kept.data();
  $2 = kept.size();
}

%typemap(in, numinputs=0) (void** BYTES, size_t* SIZE)
    (runcible::Freed<void> kept, size_t size = 0) {
  $1 = &kept.memory;
  $2 = &size;
}
%typemap(argout) (void** BYTES, size_t* SIZE) {
  $result = runcible::bytes(jenv, *$1, *$2);
}

/* An array to fill. */
runcible_java_type((void* ROOM, size_t SIZE), jbyteArray, byte[])
%typemap(in) (void* ROOM, size_t SIZE) (runcible::Bytes kept) {
  if (!kept.take(jenv, $input)) return $null;
  $1 = kept.data();
  $2 = kept.size();
}
%typemap(argout) (void* ROOM, size_t SIZE) { kept$argnum.write_back(); }

/* A float[][]: rows of columns. */
%typemap(in, numinputs=0) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
    (const float* floats = NULL, size_t rows = 0, size_t columns = 0) {
  $1 = ($1_ltype)&floats;
  $2 = &rows;
  $3 = &columns;
}
%typemap(argout) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  $result = runcible::rows(jenv, *$1, *$2, *$3);
}

runcible_java_type((const int64_t* SHAPE, int32_t RANK), jlongArray, long[])
%typemap(in) (const int64_t* SHAPE, int32_t RANK) (runcible::Longs kept) {
  if (!kept.take(jenv, $input)) return $null;
  $1 = ($1_ltype)kept.data();
  $2 = (int32_t)kept.size();
}
%typemap(in, numinputs=0) (int64_t* SHAPE, int32_t* RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK], int32_t rank = 0) {
  $1 = shape;
  $2 = &rank;
}
%typemap(argout) (int64_t* SHAPE, int32_t* RANK) {
  $result = runcible::longs(jenv, $1, *$2);
}

/* A Long; two of them, as from rc_tensor_size, are an Object[]. */
%define runcible_number(TYPE)
%typemap(in, numinputs=0) TYPE* OUTPUT (TYPE number = 0) { $1 = &number; }
%typemap(argout) TYPE* OUTPUT {
  $result = runcible::append(jenv, $result,
                             runcible::number(jenv, (jlong)*$1));
}
%enddef
runcible_number(int32_t)
runcible_number(int64_t)
runcible_number(size_t)

/* An Event, or null if none arrived. */
%typemap(in, numinputs=0) rc_event* EVENT (rc_event event) {
  rc_event_init(&event, sizeof(event));
  event.type = -1;
  $1 = &event;
}
%typemap(argout) rc_event* EVENT {
  if ($1->type >= 0) $result = runcible::event(jenv, 0, $1);
}

/* An Event[]. */
%typemap(in, numinputs=0) kept_events* EVENTS (runcible::KeptEvents events) {
  $1 = &events.list;
}
%typemap(argout) kept_events* EVENTS {
  $result = runcible::events(jenv, $1);
}

/* Opening and loading report their progress to a DoubleConsumer, on their
 * thread. An exception that it throws cancels them and is thrown by them. The
 * object is held until another, or null, replaces it. */
%typemap(jni) jobject CONSUMER "jobject"
%typemap(jtype) jobject CONSUMER "java.util.function.DoubleConsumer"
%typemap(jstype) jobject CONSUMER "java.util.function.DoubleConsumer"
%typemap(javain) jobject CONSUMER "$javainput"
%define runcible_progress_of(STRUCT)
%extend STRUCT {
  void set_progress(JNIEnv* jenv, jobject CONSUMER) {
    runcible::set_progress(jenv, $self, CONSUMER);
  }
}
%enddef
runcible_progress_of(rc_backend_options)
runcible_progress_of(rc_backend_switch_options)
runcible_progress_of(rc_model_options)
%typemap(in, numinputs=0) JNIEnv* jenv { $1 = jenv; }

/* The function of a custom op, which is held until the op is released; returns
 * false without memory to hold it. drop_callback releases a function that no op
 * was made of. */
%typemap(jni) jobject FUNCTION "jobject"
%typemap(jtype) jobject FUNCTION "CustomOp.Function"
%typemap(jstype) jobject FUNCTION "CustomOp.Function"
%typemap(javain) jobject FUNCTION "$javainput"
%extend rc_custom_op_options {
  runcible_kept set_callback(JNIEnv* jenv, jobject FUNCTION) {
    return runcible::set_custom(jenv, $self, FUNCTION);
  }
  void drop_callback() { $self->release($self->user); }
}
