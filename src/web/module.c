/* All of the module is the library; this file only lets it be linked. */
#include <runcible/runcible.h>

/* The ABI that JavaScript was written for. */
_Static_assert(sizeof(void*) == 4, "pointers of the module have 32 bits");
