/* Where the models that come with Runcible lie in the prefix. `cmake --install
 * --prefix` compiles this for that prefix and puts it into the static library
 * there: programs that hold it may lie anywhere.
 */
#include "base/installed_data.h"

const char rc_installed_data[] = RC_INSTALLED_DATA;
