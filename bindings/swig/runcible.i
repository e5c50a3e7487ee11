/* Runcible for SWIG: the public headers, and the parts that all languages
 * share.
 *
 * The main file of a language names the module, implements the typemaps that
 * arguments.i lists and the two C functions below, and includes this file:
 *
 *     %module(package="runcible") native
 *     %include "typemaps.i"
 *     %include "runcible.i"
 *
 * The language implements in C (in a %header block before):
 *
 *   void runcible_raise(rc_status status, const char* message)
 *     Makes an exception of the class of `status`, to be thrown when the call
 *     returns. `message` is valid until the next call into the library.
 *   RUNCIBLE_FAIL
 *     A statement that leaves the wrapper with that exception.
 *   RUNCIBLE_NOTHING
 *     A statement that makes the result of the wrapper nothing: None, nil, ...
 */
#if SWIG_VERSION < 0x040200
#error "Runcible needs SWIG 4.2 or newer (pip install swig)"
#endif

%{
#include <runcible/runcible.h>
%}
/* int64_t is long, as everywhere where Runcible is built. */
#define SWIGWORDSIZE64
%include "stdint.i"
%include "names.i"
%include "statuses.i"
%include "handles.i"
%include "arguments.i"
%include "structs.i"
%include "generate_options.i"
%include "options.i"
%include "model_memory.i"
%include "events.i"
%include "convert.i"
%include "fetch.i"
%include "grammar.i"
%include "embed.i"
%include "chat.i"
%include "tenants.i"

%include "runcible/base.h"
%include "runcible/types.h"
%include "runcible/tenant.h"
%include "runcible/backend.h"
%include "runcible/loop.h"
%include "runcible/model.h"
%include "runcible/convert.h"
%include "runcible/embed.h"
%include "runcible/fetch.h"
// Members of structs have this name as well.
%apply const char* NAME { const char* value }
%include "runcible/config.h"
%clear const char* value;
%include "runcible/session.h"
%include "runcible/grammar.h"
%include "runcible/generate.h"
%include "runcible/chat.h"
%include "runcible/tensor.h"
%include "runcible/op.h"
#ifndef SWIGTCL
%include "pinned.i"
#endif
#ifndef SWIGPYTHON
%include "graphs.i"
%include "custom_ops.i"
#endif

/* The version that these files were written for: checked when SWIG runs, and
 * when C is compiled, possibly with other headers. */
%ignore RUNCIBLE_INTERFACE_MAJOR;
%ignore RUNCIBLE_INTERFACE_MINOR;
#define RUNCIBLE_INTERFACE_MAJOR 0
#define RUNCIBLE_INTERFACE_MINOR 1
#if RC_VERSION_MAJOR != RUNCIBLE_INTERFACE_MAJOR || \
    RC_VERSION_MINOR != RUNCIBLE_INTERFACE_MINOR
#error "bindings/swig was written for another version of runcible/base.h"
#endif
%{
#if RC_VERSION_MAJOR != 0 || RC_VERSION_MINOR != 1
#error "bindings/swig was written for another version of runcible/base.h"
#endif
%}
