/* Options and reports: objects that begin with the library's defaults. */
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

/* A member that is a status is a number, not a failure of reading it. */
%apply int32_t { rc_status status }

runcible_struct(rc_device_report)
runcible_struct(rc_backend_options)
runcible_struct(rc_backend_usage_report)
runcible_struct(rc_tensor_report)
runcible_struct(rc_tokenizer_report)
runcible_struct(rc_model_options)
runcible_struct(rc_plan_report)
runcible_struct(rc_plan_device_report)
runcible_struct(rc_model_report)
runcible_struct(rc_session_options)
runcible_struct(rc_generate_report)
runcible_struct(rc_random_options)
runcible_struct(rc_rope_options)
runcible_struct(rc_attention_options)
runcible_struct(rc_conv2d_options)

/* Texts of reports are the library's. */
%immutable rc_device_report::backend;
%immutable rc_device_report::description;
%immutable rc_device_report::id;
%immutable rc_device_report::name;
%immutable rc_device_report::reason;
%immutable rc_device_report::features;
%immutable rc_device_report::driver;
%immutable rc_device_report::physical_id;
%immutable rc_tensor_report::name;
%immutable rc_tensor_report::dtype_name;
%immutable rc_tokenizer_report::kind;
%immutable rc_plan_device_report::device;
%immutable rc_model_report::architecture;
%immutable rc_model_report::name;
%immutable rc_model_report::device;

/* Arrays within structs, element by element. */
%ignore rc_tensor_report::shape;
%extend rc_tensor_report {
  /* The i-th dimension, slowest first; -1 if there is none. */
  int64_t size_of_dimension(int32_t i) {
    return i >= 0 && i < $self->rank ? $self->shape[i] : -1;
  }
}

%ignore rc_conv2d_options::stride;
%ignore rc_conv2d_options::padding;
%ignore rc_conv2d_options::dilation;
%extend rc_conv2d_options {
  void set_stride(int32_t down, int32_t across) {
    $self->stride[0] = down;
    $self->stride[1] = across;
  }
  void set_padding(int32_t down, int32_t across) {
    $self->padding[0] = down;
    $self->padding[1] = across;
  }
  void set_dilation(int32_t down, int32_t across) {
    $self->dilation[0] = down;
    $self->dilation[1] = across;
  }
}
