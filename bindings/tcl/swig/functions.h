/* Custom ops whose function is a command of Tcl; included by the wrapper alone.
 * The command, which custom.tcl makes, is called with
 *
 *   inputs outputs attributes
 *
 * where values are {dtype shape bytes}; for outputs, bytes is their number. The
 * command returns a list of byte arrays, the bytes of the outputs. */
#ifndef RUNCIBLE_TCL_FUNCTIONS_H
#define RUNCIBLE_TCL_FUNCTIONS_H

#include <limits.h>
#include <runcible/runcible.h>
#include <stdlib.h>
#include <string.h>
#include <tcl.h>

#include "served.h"
#include "values.h"

typedef Tcl_Interp* runcible_server;

static const char runcible_served_key[] = "runcible.served";

static runcible_served* runcible_served_of(Tcl_Interp* interp) {
  return (runcible_served*)Tcl_GetAssocData(interp, runcible_served_key, NULL);
}

static void runcible_let_functions_go(runcible_served* served) {
  runcible_function* released = runcible_take_released(served);
  while (released != NULL) {
    runcible_function* next = released->next;
    Tcl_DecrRefCount((Tcl_Obj*)released->object);
    free(released);
    released = next;
  }
}

static void runcible_end_served(ClientData data, Tcl_Interp* interp) {
  (void)interp;
  runcible_let_functions_go((runcible_served*)data);
  runcible_leave_served((runcible_served*)data);
}

static Tcl_Obj* runcible_values(const rc_op_value* const* values, size_t count,
                                int with_bytes) {
  Tcl_Obj* list = Tcl_NewListObj(0, NULL);
  size_t i;
  for (i = 0; i < count; ++i) {
    const rc_op_value* value = values[i];
    Tcl_Obj* parts[3];
    parts[0] = Tcl_NewIntObj(value->dtype);
    parts[1] = runcible_shape(value->shape, value->rank);
    parts[2] = with_bytes
                   ? Tcl_NewByteArrayObj((const unsigned char*)value->data,
                                         (int)value->bytes)
                   : Tcl_NewWideIntObj((Tcl_WideInt)value->bytes);
    Tcl_ListObjAppendElement(NULL, list, Tcl_NewListObj(3, parts));
  }
  return list;
}

/* Copies the outputs from the interpreter's result. */
static int runcible_outputs_in(Tcl_Interp* interp, const rc_custom_call* call) {
  Tcl_Obj* made = Tcl_GetObjResult(interp);
  size_t i;
  for (i = 0; i < call->output_count; ++i) {
    const rc_op_value* output = call->outputs[i];
    Tcl_Obj* each = NULL;
    const unsigned char* bytes;
    int size = -1;
    if (Tcl_ListObjIndex(interp, made, (int)i, &each) != TCL_OK) return 0;
    bytes = each == NULL ? NULL : Tcl_GetByteArrayFromObj(each, &size);
    if (size < 0 || (uint64_t)size != output->bytes) {
      Tcl_SetObjResult(interp,
                       Tcl_ObjPrintf("output %d has not %lu bytes", (int)i,
                                     (unsigned long)output->bytes));
      return 0;
    }
    memcpy(output->data, bytes, (size_t)size);
  }
  return 1;
}

/* A byte array of Tcl 8.6 cannot be larger. */
static int runcible_fits(const rc_custom_call* call) {
  size_t i;
  for (i = 0; i < call->input_count; ++i) {
    if (call->inputs[i]->bytes > INT_MAX) return 0;
  }
  for (i = 0; i < call->output_count; ++i) {
    if (call->outputs[i]->bytes > INT_MAX) return 0;
  }
  return 1;
}

static void runcible_run_wanted(void* server, runcible_wanted* wanted) {
  Tcl_Interp* interp = (Tcl_Interp*)server;
  const rc_custom_call* call = wanted->call;
  Tcl_Obj* attributes;
  Tcl_Obj* command;
  size_t i;
  wanted->status = RC_E_DEVICE;
  if (!runcible_fits(call)) {
    strcpy(wanted->message, "a tensor is larger than a byte array can be");
    return;
  }
  attributes = Tcl_NewListObj(0, NULL);
  for (i = 0; i < call->attribute_count; ++i) {
    Tcl_ListObjAppendElement(NULL, attributes,
                             Tcl_NewDoubleObj(call->attributes[i]));
  }
  command = Tcl_DuplicateObj((Tcl_Obj*)wanted->object);
  Tcl_IncrRefCount(command);
  Tcl_ListObjAppendElement(NULL, command,
                           runcible_values(call->inputs, call->input_count, 1));
  Tcl_ListObjAppendElement(
      NULL, command, runcible_values(call->outputs, call->output_count, 0));
  Tcl_ListObjAppendElement(NULL, command, attributes);
  if (Tcl_EvalObjEx(interp, command, TCL_EVAL_GLOBAL) == TCL_OK &&
      runcible_outputs_in(interp, call)) {
    wanted->status = RC_OK;
  } else {
    snprintf(wanted->message, RC_OP_BACKEND_MESSAGE_BYTES, "%s",
             Tcl_GetStringResult(interp));
  }
  Tcl_DecrRefCount(command);
  Tcl_ResetResult(interp);
}

/* Makes an op of the options and a list that begins a command. */
static rc_status runcible_custom_op(Tcl_Interp* interp,
                                    rc_custom_op_options* options,
                                    Tcl_Obj* command, rc_custom_op** op) {
  runcible_served* served = runcible_served_of(interp);
  rc_status status;
  if (served == NULL) {
    served = runcible_new_served();
    if (served == NULL) return RC_E_OUT_OF_MEMORY;
    Tcl_SetAssocData(interp, runcible_served_key, runcible_end_served, served);
  }
  runcible_let_functions_go(served);
  if (!runcible_set_function(options, served, command)) {
    return RC_E_OUT_OF_MEMORY;
  }
  Tcl_IncrRefCount(command);
  status = rc_custom_op_create(options, op);
  /* Releases the command, as the op would have done. */
  if (status != RC_OK) options->release(options->user);
  return status;
}

#endif /* RUNCIBLE_TCL_FUNCTIONS_H */
