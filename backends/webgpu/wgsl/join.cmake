# Makes one file of the texts of kernels, each after a line with its name.
#
#     cmake -DTEXTS=FILE|FILE... -DOUTPUT=FILE -P join.cmake
string(REPLACE "|" ";" files "${TEXTS}")
file(WRITE ${OUTPUT}.part "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  # As write_wgsl has it: R"wgsl(...)wgsl".
  string(LENGTH "${text}" length)
  math(EXPR length "${length} - 14")
  string(SUBSTRING "${text}" 7 ${length} text)
  # A tenth of the packed file would be indentation.
  string(REGEX REPLACE "\n +" "\n" text "${text}")
  file(APPEND ${OUTPUT}.part "//@kernel ${name}\n${text}")
endforeach()
file(RENAME ${OUTPUT}.part ${OUTPUT})
