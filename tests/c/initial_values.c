/* Compares each RC_..._INIT macro with its rc_..._init function, member by
 * member. It is compiled as C99, C++11 and C++20. members_of_structs.h is made
 * from tests/abi/libruncible.abi: a member that is new has its row there. */
#include <stddef.h>

#include "check.h"
#include "runcible/runcible.h"

/* An expanded macro as a text. */
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

#if defined(__cplusplus) && __cplusplus < 202002L
#define INITIALISES(text, member) ((void)(text), 1)
#else
/* By its name; a member that is left out would be zero unseen. */
#define INITIALISES(text, member) (strstr(text, "." #member " = ") != NULL)
#endif

#define BEGIN_STRUCT(type, init, size)               \
  {                                                  \
    static const type macro = init;                  \
    const char* text = TEXT(init);                   \
    type function;                                   \
    memset(&function, 0xAA, sizeof(function));       \
    type##_init(&function, sizeof(function));        \
    CHECK(sizeof(type) == (size));                   \
    CHECK(function.struct_size == sizeof(function)); \
    ++structs;

#define MEMBER(type, member, offset)                                          \
  CHECK(offsetof(type, member) == (offset));                                  \
  CHECK(same(&macro, &function, (offset), sizeof(((const type*)0)->member))); \
  CHECK(INITIALISES(text, member));                                           \
  ++members;

#define END_STRUCT(type) }

static int same(const void* a, const void* b, size_t offset, size_t size) {
  return memcmp((const char*)a + offset, (const char*)b + offset, size) == 0;
}

int main(void) {
  int structs = 0;
  int members = 0;
#include "members_of_structs.h"
  CHECK(structs >= 36);
  CHECK(members > 350);
  return CHECK_RESULT();
}
