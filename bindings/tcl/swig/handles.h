/* Handles and structs as names, such as "rc_model7", in a table of each
 * interpreter; included by the wrapper alone. Using a name that was disposed of
 * is an error, and never uses its address. Handles that are left when the
 * interpreter is deleted are released. */
#ifndef RUNCIBLE_TCL_HANDLES_H
#define RUNCIBLE_TCL_HANDLES_H

#include <runcible/runcible.h>
#include <stdio.h>
#include <tcl.h>

#include "values.h"

static const char runcible_handles_key[] = "runcible";

typedef struct {
  Tcl_HashTable names;
  unsigned long last;
} runcible_handles;

typedef struct {
  void* pointer;
  swig_type_info* type;
} runcible_handle;

static void runcible_free_handle(runcible_handle* handle) {
  const swig_class* class_of = (const swig_class*)handle->type->clientdata;
  if (class_of != NULL && class_of->destructor != NULL) {
    class_of->destructor(handle->pointer);
  }
  ckfree(handle);
}

/* Releases all handles, parents and children in any order. */
static void runcible_close_handles(ClientData data, Tcl_Interp* interp) {
  runcible_handles* handles = (runcible_handles*)data;
  Tcl_HashSearch search;
  Tcl_HashEntry* entry;
  (void)interp;
  while ((entry = Tcl_FirstHashEntry(&handles->names, &search)) != NULL) {
    runcible_handle* handle = (runcible_handle*)Tcl_GetHashValue(entry);
    Tcl_DeleteHashEntry(entry);
    runcible_free_handle(handle);
  }
  Tcl_DeleteHashTable(&handles->names);
  ckfree(handles);
}

static void runcible_open_handles(Tcl_Interp* interp) {
  runcible_handles* handles = (runcible_handles*)ckalloc(sizeof(*handles));
  Tcl_InitHashTable(&handles->names, TCL_STRING_KEYS);
  handles->last = 0;
  Tcl_SetAssocData(interp, runcible_handles_key, runcible_close_handles,
                   handles);
}

static runcible_handles* runcible_handles_of(Tcl_Interp* interp) {
  return (runcible_handles*)Tcl_GetAssocData(interp, runcible_handles_key,
                                             NULL);
}

static Tcl_Obj* runcible_new_handle(Tcl_Interp* interp, void* pointer,
                                    swig_type_info* type) {
  runcible_handles* handles = runcible_handles_of(interp);
  runcible_handle* handle = (runcible_handle*)ckalloc(sizeof(*handle));
  const char* kind = type->name + strlen("_p_");
  Tcl_Obj* name = Tcl_ObjPrintf("%s%lu", kind, ++handles->last);
  int is_new;
  handle->pointer = pointer;
  handle->type = type;
  Tcl_SetHashValue(
      Tcl_CreateHashEntry(&handles->names, Tcl_GetString(name), &is_new),
      handle);
  return name;
}

static Tcl_HashEntry* runcible_find_handle(Tcl_Interp* interp, Tcl_Obj* name) {
  return Tcl_FindHashEntry(&runcible_handles_of(interp)->names,
                           Tcl_GetString(name));
}

/* Finds the pointer of a name; "" is NULL. Returns 0 with an error if there is
 * no such name, or it is of another type. */
static int runcible_handle_in(Tcl_Interp* interp, Tcl_Obj* name,
                              swig_type_info* type, void** pointer) {
  Tcl_HashEntry* entry;
  *pointer = NULL;
  if (*Tcl_GetString(name) == '\0') return 1;
  entry = runcible_find_handle(interp, name);
  if (entry != NULL) {
    runcible_handle* handle = (runcible_handle*)Tcl_GetHashValue(entry);
    if (handle->type == type) {
      *pointer = handle->pointer;
      return 1;
    }
  }
  Tcl_SetObjResult(
      interp, Tcl_ObjPrintf("there is no %s \"%s\"", type->name + strlen("_p_"),
                            Tcl_GetString(name)));
  return 0;
}

/* Removes a name, whose pointer now has another owner. */
static void runcible_forget_handle(Tcl_Interp* interp, Tcl_Obj* name) {
  Tcl_HashEntry* entry = runcible_find_handle(interp, name);
  if (entry == NULL) return;
  ckfree(Tcl_GetHashValue(entry));
  Tcl_DeleteHashEntry(entry);
}

static void runcible_release_handle(Tcl_Interp* interp, Tcl_Obj* name) {
  Tcl_HashEntry* entry = runcible_find_handle(interp, name);
  runcible_handle* handle;
  if (entry == NULL) return;
  handle = (runcible_handle*)Tcl_GetHashValue(entry);
  Tcl_DeleteHashEntry(entry);
  runcible_free_handle(handle);
}

#endif /* RUNCIBLE_TCL_HANDLES_H */
