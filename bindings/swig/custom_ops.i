/* Custom ops: rc_custom_op_options with the memory of its texts, which are
 * empty if not given, and the C function by its address or by its name in a
 * library; tensors and numbers of a call in lists that are filled one by one.
 * Each language implements functions of the language itself; Python implements
 * all of this by hand, see python/swig/custom_op.i. */
%ignore rc_custom_call;
%ignore rc_custom_call::end; /* a keyword of some languages */
%ignore rc_custom_op_options::function;
%ignore rc_custom_op_options::user;
%ignore rc_custom_op_options::release;
%ignore rc_custom_op_compute;

%{
#include <dlfcn.h>
#include <stdio.h>

/* The options come first, so that a pointer to them points to the struct. */
typedef struct {
  rc_custom_op_options options;
  char *name, *signature, *attributes, *items, *opencl_c, *opencl_c_head, *glsl,
      *glsl_head, *grid, *group;
} owned_custom_op_options;

static owned_custom_op_options* owned_of_custom(rc_custom_op_options* options) {
  return (owned_custom_op_options*)options;
}

static rc_custom_op_options* new_custom_op_options(void) {
  owned_custom_op_options* owned =
      (owned_custom_op_options*)calloc(1, sizeof(*owned));
  if (owned == NULL) return NULL;
  rc_custom_op_options_init(&owned->options, sizeof(owned->options));
  owned->options.name = "custom_op";
  return &owned->options;
}

static void free_custom_op_options(rc_custom_op_options* options) {
  owned_custom_op_options* owned = owned_of_custom(options);
  if (options == NULL) return;
  free(owned->group);
  free(owned->grid);
  free(owned->glsl_head);
  free(owned->glsl);
  free(owned->opencl_c_head);
  free(owned->opencl_c);
  free(owned->items);
  free(owned->attributes);
  free(owned->signature);
  free(owned->name);
  free(owned);
}

static int keep_custom_text(char** kept, const char** shown, const char* text) {
  return text == NULL || *text == '\0' || keep_text(kept, shown, text);
}

static int32_t outputs_of_signature(const char* signature) {
  const char* at = signature == NULL ? NULL : strstr(signature, "->");
  int32_t count = 1;
  int inside = 0;
  for (; at != NULL && *at != '\0'; ++at) {
    if (*at == '[') inside = 1;
    if (*at == ']') inside = 0;
    if (*at == ',' && !inside) ++count;
  }
  return count;
}

/* The reason why a function was not found in a library, for each thread. */
typedef rc_status symbol_status;
static __thread char symbol_message[512];

/* The library stays loaded, because it may have started threads or callbacks.
 */
static symbol_status find_symbol(rc_custom_op_options* options,
                                 const char* library, const char* symbol) {
  void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* found = NULL;
  if (opened != NULL) {
    found = dlsym(opened, symbol);
    if (found != NULL) {
      memcpy(&options->function, &found, sizeof(found));
      dlclose(opened);
      return RC_OK;
    }
  }
  {
    const char* why = dlerror();
    snprintf(symbol_message, sizeof(symbol_message),
             "the function %s of a custom op: %s", symbol,
             why != NULL ? why : "its address is 0");
  }
  if (opened != NULL) dlclose(opened);
  return RC_E_NOT_FOUND;
}

typedef struct number_list {
  double* numbers;
  size_t count;
} number_list;

static int add_number(number_list* list, double number) {
  double* more = (double*)realloc(list->numbers,
                                  (list->count + 1) * sizeof(*more));
  if (more == NULL) return 0;
  list->numbers = more;
  more[list->count++] = number;
  return 1;
}

static void free_number_list(number_list* list) {
  if (list == NULL) return;
  free(list->numbers);
  free(list);
}
%}

%typemap(out) symbol_status {
  if ($1 != RC_OK) {
    runcible_raise($1, symbol_message);
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_NOTHING;
}

%exception number_list::~number_list "$action"
typedef struct number_list number_list;
struct number_list {};
%extend number_list {
  number_list() { return (number_list*)calloc(1, sizeof(number_list)); }
  ~number_list() { free_number_list($self); }

  runcible_kept add(double number) { return add_number($self, number); }
}

/* Set like the texts in generate_options.i. */
#if defined(SWIGJAVA) || defined(SWIGCSHARP) || defined(SWIGGO)
%define runcible_custom_text(MEMBER)
%ignore rc_custom_op_options::MEMBER;
%extend rc_custom_op_options {
  runcible_kept set_ ## MEMBER(const char* NAME) {
    return keep_custom_text(&owned_of_custom($self)->MEMBER, &$self->MEMBER,
                            NAME);
  }
}
%enddef
#else
%define runcible_custom_text(MEMBER)
%typemap(memberin) const char* MEMBER {
  if (!keep_custom_text(&owned_of_custom(arg1)->MEMBER, (const char**)&$1,
                        $input)) {
    arg1->struct_size = 0;
  }
}
%enddef
#endif
runcible_custom_text(name)
runcible_custom_text(signature)
runcible_custom_text(attributes)
runcible_custom_text(items)
runcible_custom_text(opencl_c)
runcible_custom_text(opencl_c_head)
runcible_custom_text(glsl)
runcible_custom_text(glsl_head)
runcible_custom_text(grid)
runcible_custom_text(group)

%exception rc_custom_op_options::~rc_custom_op_options "$action"
%apply const char* NAME { const char* library, const char* symbol }
%extend rc_custom_op_options {
  rc_custom_op_options() { return new_custom_op_options(); }
  ~rc_custom_op_options() { free_custom_op_options($self); }

  /* An rc_custom_function, which is called with NULL as `user`. */
  void set_function(uint64_t address) {
    const uintptr_t function = (uintptr_t)address;
    memcpy(&$self->function, &function, sizeof(function));
  }
  /* The number of outputs in the signature. */
  int32_t outputs() { return outputs_of_signature($self->signature); }
  symbol_status set_function_of(const char* library, const char* symbol) {
    return find_symbol($self, library, symbol);
  }
}

%include "runcible/custom_op.h"
#if !defined(SWIGJAVA) && !defined(SWIGCSHARP)
%clear const char* name, const char* signature, const char* attributes;
%clear const char* items, const char* opencl_c, const char* opencl_c_head;
%clear const char* glsl, const char* glsl_head, const char* grid;
%clear const char* group;
#endif

%inline %{
/* Adds the results to `made`, which is empty. */
static rc_status custom_op_compute(rc_custom_op* op, const tensor_list* inputs,
                                   const number_list* numbers, int32_t count,
                                   tensor_list* made) {
  rc_status status;
  rc_tensor** room = (rc_tensor**)calloc((size_t)count + 1, sizeof(*room));
  if (room == NULL) return RC_E_OUT_OF_MEMORY;
  status = rc_custom_op_compute(op, (rc_tensor* const*)inputs->tensors,
                                inputs->count, numbers->numbers,
                                numbers->count, room, (size_t)count);
  if (status != RC_OK) {
    free(room);
    return status;
  }
  free(made->tensors);
  made->tensors = room;
  made->count = (size_t)count;
  return RC_OK;
}
%}
