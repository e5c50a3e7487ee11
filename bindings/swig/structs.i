/* Options and reports: objects initialised with the library's defaults. */
%define runcible_struct(NAME)
%exception NAME::~NAME "$action"
%extend NAME {
  NAME() {
    NAME* made = (NAME*)malloc(sizeof(NAME));
    if (made != NULL) NAME ## _init(made, sizeof(NAME));
    return made;
  }
  ~NAME() { free($self); }
}
%enddef
%{
#include <stdlib.h>
%}

/* A status in a struct is a number, not a failure of reading it. */
%apply int32_t { rc_status status }

/* :api: structs */

/* The library owns the texts of reports. */
/* :api: texts */

/* Arrays within structs, element by element. */
%ignore rc_tensor_report::shape;
%extend rc_tensor_report {
  /* The i-th dimension, slowest first; -1 if there is none. */
  int64_t size_of_dimension(int32_t i) {
    return i >= 0 && i < $self->rank ? $self->shape[i] : -1;
  }
}

/* :api: pairs */
