# Writes the files KERNELS, a list, as strings into the C++ source OUTPUT, for the
# backend BACKEND.
set(text "// Made from the kernels by embed.cmake.
#include \"${BACKEND}/kernel_files.h\"

namespace rc::${BACKEND} {

const gpu::KernelFile kKernelFiles[] = {
")
foreach(file IN LISTS KERNELS)
  get_filename_component(name ${file} NAME)
  file(READ ${file} content)
  # Lists end at semicolons, strings do not: nothing is split here.
  string(APPEND text "    {\"${name}\", R\"kernel(${content})kernel\"},\n")
endforeach()
string(APPEND text
  "    {nullptr, nullptr},\n};\n\n}  // namespace rc::${BACKEND}\n")
file(WRITE ${OUTPUT} "${text}")
