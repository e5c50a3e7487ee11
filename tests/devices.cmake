# Tests over the devices of this machine: conformance, faults, discovery, and the
# rooms of the backends that are modules. Included by CMakeLists.txt.
# Test programs do not lie where the modules do.
set(conformance_modules
  "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}:${CMAKE_BINARY_DIR}/bin/examples")
if(RUNCIBLE_SANITIZE MATCHES "address")
  # Sanitizers see nothing of what drivers do; what calls them is in host_driver,
  # which runs the same ops, and in opencl and vulkan.
  set(conformance_modules "${CMAKE_BINARY_DIR}/bin/examples")
endif()
rc_test_folder(conformance
  ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${conformance_modules}")
target_sources(test_conformance PRIVATE api/api_util.cc)
rc_test_folder(api/faults
  ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
target_sources(test_api_faults PRIVATE api/api_util.cc)
# What test_api and test_engine also do with the devices of modules.
if(TARGET runciblebackend-opencl OR TARGET runciblebackend-vulkan)
  add_test(NAME switching.to_modules
    COMMAND test_api --gtest_filter=BackendSwitch/SwitchedTo.*)
  add_test(NAME engine.rows_of_modules COMMAND test_engine
    --gtest_filter=Models/GoldenRows.*/opencl_*:Models/GoldenRows.*/vulkan_*)
  set_tests_properties(switching.to_modules engine.rows_of_modules PROPERTIES
    TIMEOUT 900
    ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
endif()
# Drivers compile their kernels anew in each test here.
rc_test_folder(api/discovery TIMEOUT 900)
target_sources(test_api_discovery PRIVATE
  api/allocation/failing_new_util.cc api/api_util.cc)
# The C library's loader and threads report a failed malloc in their own ways.
target_compile_definitions(test_api_discovery PRIVATE RC_ONLY_NEW_FAILS
  RC_MODULES="${CMAKE_LIBRARY_OUTPUT_DIRECTORY}"
  RC_MODULE_FOUND="$<TARGET_FILE:test_module_found>"
  RC_MODULE_STUCK="$<TARGET_FILE:test_module_stuck>")
add_dependencies(test_api_discovery test_module_found test_module_stuck
                 runcible_probe)
foreach(backend blas opencl vulkan webgpu)
  if(TARGET runciblebackend-${backend})
    add_dependencies(test_api_discovery runciblebackend-${backend})
  endif()
endforeach()
if(TARGET example_plugin_backend)
  add_dependencies(test_conformance example_plugin_backend)
endif()
target_sources(test_backends PRIVATE device/program_rules_util.cc)
set(device_tests device/limits_util.cc device/module_util.cc
  device/program_rules_util.cc device/whole_model_util.cc)
# Sources of backends, which define macros for the headers that they include.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/backends/opencl/api.cc
  ${PROJECT_SOURCE_DIR}/backends/opencl/pocl.cc
  ${PROJECT_SOURCE_DIR}/backends/vulkan/api.cc
  ${PROJECT_SOURCE_DIR}/backends/vulkan/instance.cc
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# One test runs the command.
if(TARGET runciblebackend-opencl AND TARGET runcible)
  rc_test_folder(opencl
    ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  target_sources(test_opencl PRIVATE model/model_util.cc ${device_tests}
    ${PROJECT_SOURCE_DIR}/backends/opencl/api.cc
    ${PROJECT_SOURCE_DIR}/backends/opencl/pocl.cc)
  target_include_directories(test_opencl SYSTEM PRIVATE
    ${RUNCIBLE_OPENCL_HEADERS})
  add_dependencies(test_opencl runciblebackend-opencl runcible)
  target_compile_definitions(test_opencl PRIVATE
    RC_COMMAND="$<TARGET_FILE:runcible>"
    RC_OPENCL_MODULE="$<TARGET_FILE:runciblebackend-opencl>")
  # Products of matrices, which no device takes unless it is told to.
  add_test(NAME opencl.matrices COMMAND test_conformance
    --gtest_filter=Linear.*:*LinearOfType.*/BF16:*LinearOfType.*/Q4_K)
  set_tests_properties(opencl.matrices PROPERTIES ENVIRONMENT
    "RUNCIBLE_TEST_MODULE=$<TARGET_FILE:runciblebackend-opencl>;\
RUNCIBLE_OPENCL_TUNING=matrices=3")
endif()
if(TARGET runciblebackend-vulkan)
  rc_test_folder(vulkan
    ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  # An instance of the tests' own, to make mistakes with.
  target_sources(test_vulkan PRIVATE model/model_util.cc ${device_tests}
    ${PROJECT_SOURCE_DIR}/backends/vulkan/api.cc
    ${PROJECT_SOURCE_DIR}/backends/vulkan/instance.cc)
  target_include_directories(test_vulkan SYSTEM PRIVATE
    ${RUNCIBLE_VULKAN_HEADERS} ${RUNCIBLE_VOLK_HEADERS})
  add_dependencies(test_vulkan runciblebackend-vulkan)
  target_compile_definitions(test_vulkan PRIVATE
    RC_VULKAN_MODULE="$<TARGET_FILE:runciblebackend-vulkan>")
endif()
# Once more with the validation layer, and the tensor ops and those with states with
# the shaders of GPUs too. Sanitizers do not see what drivers do.
if(TARGET runciblebackend-vulkan AND NOT RUNCIBLE_SANITIZE)
  add_test(NAME vulkan.validation COMMAND test_vulkan
    "--gtest_filter=VulkanModel.FableL*:VulkanModel.Exp*:VulkanPlugin.Times*:\
VulkanTensor.*")
  target_sources(test_conformance PRIVATE vulkan/validation_util.cc)
  set(tensor_ops "Attend.*:Binary.*:ChannelScan.*:Conv2d.*:Convert.*:Copy.*:\
DeltaRule.*:FusedLinear.*:Gather.*:GroupNorm.*:LayerNorm.*:Matmul*:Reduce.*:\
Rotate.*:SelectiveScan.*:ShortConv.*:\
Softmax.*:Unary.*")
  add_test(NAME vulkan.tensors_to_gpus COMMAND test_conformance
    --gtest_filter=${tensor_ops})
  # What takes longest begins first, so that it does not end alone.
  set_tests_properties(vulkan.validation vulkan.tensors_to_gpus
    PROPERTIES COST 100 TIMEOUT 1500 ENVIRONMENT
    "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY};\
RUNCIBLE_VULKAN_VALIDATION=1")
  set_property(TEST vulkan.tensors_to_gpus APPEND PROPERTY ENVIRONMENT
    "RUNCIBLE_VULKAN_TUNING=texels=0,tile=16,parts=2,reduce=32,attention=16")
  set(row_ops "Affine.*:Attention.OddHeads*:Attention.Sinks*:\
Attention.Softcap*:Attention.WholeSequencesWithin*:CacheStore.*:\
GeneralAttention.ValuesWithinKeys*:Glu.*:LayerNormOfRows.*:RmsNorm.*:Xielu.*")
  add_test(NAME vulkan.rows_to_gpus COMMAND test_conformance
    --gtest_filter=${row_ops})
  set_tests_properties(vulkan.rows_to_gpus PROPERTIES COST 50 TIMEOUT 900
    ENVIRONMENT
    "RUNCIBLE_TEST_MODULE=$<TARGET_FILE:runciblebackend-vulkan>;\
RUNCIBLE_VULKAN_TUNING=texels=0,reduce=256,attention=16,attention_rows=2")
  # They compile all kernels once more.
  set_tests_properties(vulkan.tensors_to_gpus vulkan.rows_to_gpus
    PROPERTIES LABELS full)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING)
  add_subdirectory(host_driver/module)
endif()
if(TARGET runciblebackend-cuda OR TARGET runciblebackend-rocm)
  add_subdirectory(streams)
endif()
# Of conformance: what takes a processor longest that plays a GPU.
set(slow "Attention.Whole*:Conv2d.L*:ExpertLinear.*:\
GeneralAttention.*:Matmul.Large*:Reduce.*:Softmax.*:*OfType*")
set(stand_in_tests ${device_tests} api/api_util.cc model/model_util.cc
  streams/stand_in_util.cc)
if(TARGET runciblebackend-cuda AND TARGET runcible)
  # On a stand-in for NVIDIA's driver, which runs the PTX that the module has.
  add_subdirectory(cuda/stand_in)
  set(stand_in "RUNCIBLE_CUDA_LIBRARY=$<TARGET_FILE:cuda_stand_in>;\
RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  rc_test_folder(cuda
    ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  set(cuda ${PROJECT_SOURCE_DIR}/backends/cuda)
  target_sources(test_cuda PRIVATE ${stand_in_tests}
    $<TARGET_OBJECTS:cuda_machine> streams/ranges.cc
    ${cuda}/ptx.cc ${cuda}/ptx_files.cc ${cuda}/tuning.cc ${cuda}/variants.cc
    ${PROJECT_SOURCE_DIR}/backends/gpu/kernel.cc
    ${PROJECT_SOURCE_DIR}/backends/gpu/tuning.cc
    ${PROJECT_SOURCE_DIR}/backends/streams/tuning.cc)
  get_property(ptx GLOBAL PROPERTY rc_cuda_ptx)
  set_source_files_properties(${cuda}/ptx_files.cc PROPERTIES
    OBJECT_DEPENDS ${ptx} SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_DEFINITIONS "RC_CUDA_PTX=\"${ptx}\"")
  add_dependencies(test_cuda runciblebackend-cuda runcible cuda_stand_in)
  target_compile_definitions(test_cuda PRIVATE
    RC_COMMAND="$<TARGET_FILE:runcible>"
    RC_CUDA_STAND_IN="$<TARGET_FILE:cuda_stand_in>")
  # Each op; the rest takes minutes. Sanitizers would take as long for the machine
  # that runs the kernels, which checks each access itself.
  if(NOT RUNCIBLE_SANITIZE)
    add_test(NAME cuda.conformance
      COMMAND test_conformance "--gtest_filter=*-Spread.*:${slow}")
    add_test(NAME cuda.conformance_of_the_rest
      COMMAND test_conformance "--gtest_filter=${slow}")
    # By tensor cores, which take more rows than the tests have.
    add_test(NAME cuda.matrices COMMAND test_conformance
      "--gtest_filter=Linear.*:*LinearOfType.*/F16:*LinearOfType.*/IQ2_XS:\
*LinearOfType.*/Q4_K:*LinearOfType.*/Q8_0")
    set_tests_properties(cuda.conformance cuda.conformance_of_the_rest
      cuda.matrices PROPERTIES COST 50 TIMEOUT 1500 ENVIRONMENT
      "${stand_in};RUNCIBLE_TEST_MODULE=$<TARGET_FILE:runciblebackend-cuda>")
    set_property(TEST cuda.matrices APPEND PROPERTY ENVIRONMENT
      RUNCIBLE_CUDA_TUNING=matrices=3)
    set_tests_properties(cuda.conformance_of_the_rest PROPERTIES LABELS full)
  endif()
endif()
if(TARGET runciblebackend-rocm AND TARGET runcible AND TARGET rc_host_kernels)
  # On stand-ins for HIP and AMD's compiler, which run the kernels as code of the
  # host; and with AMD's compiler, where it is installed.
  add_subdirectory(rocm/stand_in)
  set(stand_in "RUNCIBLE_HIP_LIBRARY=$<TARGET_FILE:hip_stand_in>;\
RUNCIBLE_COMGR_LIBRARY=$<TARGET_FILE:comgr_stand_in>;\
RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY};\
XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/rocm_cache")
  rc_test_folder(rocm
    ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  set(rocm ${PROJECT_SOURCE_DIR}/backends/rocm)
  get_property(kernel_files GLOBAL PROPERTY rc_rocm_kernel_files)
  set_source_files_properties(${kernel_files} PROPERTIES GENERATED ON)
  target_sources(test_rocm PRIVATE ${stand_in_tests} ${kernel_files}
    ${rocm}/code_objects.cc ${rocm}/comgr.cc ${rocm}/found_library.cc
    ${PROJECT_SOURCE_DIR}/backends/gpu/c_kernels.cc
    ${PROJECT_SOURCE_DIR}/backends/gpu/cache_file.cc
    ${PROJECT_SOURCE_DIR}/backends/gpu/kernel.cc
    ${PROJECT_SOURCE_DIR}/backends/gpu/kernel_files.cc)
  add_dependencies(test_rocm runciblebackend-rocm runcible hip_stand_in
                   comgr_stand_in)
  target_compile_definitions(test_rocm PRIVATE
    RC_COMMAND="$<TARGET_FILE:runcible>"
    RC_HIP_STAND_IN="$<TARGET_FILE:hip_stand_in>"
    RC_COMGR_STAND_IN="$<TARGET_FILE:comgr_stand_in>")
  # host_driver runs the same kernels in the same way.
  add_test(NAME rocm.conformance
    COMMAND test_conformance "--gtest_filter=*-Spread.*:${slow}")
  add_test(NAME rocm.conformance_of_the_rest
    COMMAND test_conformance "--gtest_filter=${slow}")
  set_tests_properties(rocm.conformance rocm.conformance_of_the_rest PROPERTIES
    LABELS full COST 50 TIMEOUT 3000 ENVIRONMENT
    "${stand_in};RUNCIBLE_TEST_MODULE=$<TARGET_FILE:runciblebackend-rocm>")
endif()
if(TARGET runciblebackend-blas)
  rc_test_folder(blas
    ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  target_sources(test_blas PRIVATE model/model_util.cc ${device_tests}
    ${PROJECT_SOURCE_DIR}/backends/blas/cblas.cc
    ${PROJECT_SOURCE_DIR}/backends/blas/one_thread.cc
    ${PROJECT_SOURCE_DIR}/backends/blas/team.cc
    ${PROJECT_SOURCE_DIR}/backends/blas/tiling.cc)
  add_subdirectory(blas/module)
  add_dependencies(test_blas runciblebackend-blas)
  foreach(kind plain wide wrong skipping lacking)
    string(TOUPPER ${kind} upper)
    add_dependencies(test_blas test_cblas_${kind})
    target_compile_definitions(test_blas PRIVATE
      RC_CBLAS_${upper}="$<TARGET_FILE:test_cblas_${kind}>")
  endforeach()
  target_compile_definitions(test_blas PRIVATE
    RC_BLAS_MODULE="$<TARGET_FILE:runciblebackend-blas>")
  # With another library than the first of those that are found.
  find_library(RUNCIBLE_BLIS NAMES blis libblis.so.4
    DOC "The BLAS library BLIS, for tests")
  mark_as_advanced(RUNCIBLE_BLIS)
  if(RUNCIBLE_BLIS AND NOT RUNCIBLE_SANITIZE)
    add_test(NAME blas.blis COMMAND test_blas --gtest_filter=BlasProduct.*)
    add_test(NAME blas.conformance_with_blis COMMAND test_conformance
      --gtest_filter=Conv2d.*:FusedLinear.*:*Linear.*:*LinearOfType.*/*F*:Matmul*)
    set_tests_properties(blas.blis blas.conformance_with_blis PROPERTIES
      TIMEOUT 1500 ENVIRONMENT "RUNCIBLE_BLAS_LIBRARY=${RUNCIBLE_BLIS};\
RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
    set_property(TEST blas.conformance_with_blis APPEND PROPERTY ENVIRONMENT
      "RUNCIBLE_TEST_MODULE=$<TARGET_FILE:runciblebackend-blas>")
  endif()
endif()
if(TARGET runciblebackend-webgpu)
  rc_test_folder(webgpu
    ENVIRONMENT "RUNCIBLE_PLUGIN_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  # A driver of the tests' own, whose device they lose.
  target_sources(test_webgpu PRIVATE model/model_util.cc ${device_tests}
    $<TARGET_OBJECTS:rc_webgpu_driver> $<TARGET_OBJECTS:rc_backend_gpu>)
  add_dependencies(test_webgpu runciblebackend-webgpu)
  find_program(RUNCIBLE_TINT tint DOC "The WGSL compiler of Dawn, for tests")
  mark_as_advanced(RUNCIBLE_TINT)
  target_compile_definitions(test_webgpu PRIVATE
    RC_TINT="$<$<BOOL:${RUNCIBLE_TINT}>:${RUNCIBLE_TINT}>"
    RC_WEBGPU_MODULE="$<TARGET_FILE:runciblebackend-webgpu>")
endif()
if(TARGET rc_host_kernels)
  rc_test_folder(host_driver)
  target_sources(test_host_driver PRIVATE model/model_util.cc
    device/whole_model_util.cc $<TARGET_OBJECTS:rc_host_driver>
    $<TARGET_OBJECTS:rc_host_kernels> $<TARGET_OBJECTS:rc_backend_gpu>)
  if(RUNCIBLE_SANITIZE MATCHES "address")
    # The ops, work-items sharing what they can; and those with most to do with
    # vectors once more, with these and buffers bound in parts.
    set(row_ops "Add.*:Affine.*:Attention.*:CacheStore.*:ChannelScan.*:Clamp.*:\
DeltaRule.*:ExpertLinear.*:ExpertSum.*:FadingState.*:GeneralAttention.*:\
GetRows.*:Glu.*:\
GroupNorm.*:Join.*:LayerNormOfRows.*:*Linear.*:*LinearOfType.*/F*:\
*LinearOfType.*/Q5_*:*LinearOfType.*/IQ4_XS:*LinearOfType.*/MXFP4:Multiply.*:\
RmsNorm.*:Rope.*:Choose.*:Route.*:RowsIntoProducts.*:Scale.*:SelectiveScan.*:\
ShortConv.*:Softcap.*:SparseMix.*:UnaryOfRows.*:Xielu.*-FusedLinear.*")
    set(vector_ops "Attention.EveryCacheType*:CacheStore.*:ChannelScan.*:\
DeltaRule.EveryKindOfState*:GeneralAttention.ValuesWithinKeys*:GroupNorm.*:\
Glu.*:LayerNormOfRows.*:*LinearOfType.*/F16:*LinearOfType.*/IQ4_NL:\
*LinearOfType.*/Q4_K:RmsNorm.*:Rope.*:SelectiveScan.EveryKindOfState*:\
ShortConv.*")
    add_test(NAME host_driver.row_ops COMMAND test_conformance
      "--gtest_filter=${row_ops}")
    set(tensor_ops "Attend.*:Binary.*:Conv2d.*:Convert.*:Copy.*:Gather.*:\
KeptPrograms.*:LayerNorm.*:Matmul.*:Reduce.*:Rotate.*:Softmax.*:Unary.*")
    add_test(NAME host_driver.tensor_ops COMMAND test_conformance
      "--gtest_filter=${tensor_ops}")
    add_test(NAME host_driver.vectors COMMAND test_conformance
      "--gtest_filter=${vector_ops}")
    # Products of matrices, which no device takes unless it is told to.
    set(matrix_ops "*Linear.*:*LinearOfType.*/BF16:*LinearOfType.*/F16:\
*LinearOfType.*/IQ2_XS:*LinearOfType.*/Q4_K:*LinearOfType.*/Q6_K:\
*LinearOfType.*/Q8_0")
    add_test(NAME host_driver.matrices COMMAND test_conformance
      "--gtest_filter=${matrix_ops}")
    set_tests_properties(host_driver.row_ops host_driver.tensor_ops
      host_driver.vectors host_driver.matrices
      PROPERTIES TIMEOUT 1500 ENVIRONMENT
      "RUNCIBLE_TEST_MODULE=$<TARGET_FILE:test_module_host>")
    set_property(TEST host_driver.vectors APPEND PROPERTY ENVIRONMENT
      "RUNCIBLE_HOST_TUNING=seed=2,lanes=4,parts=2,range=393216")
    set_property(TEST host_driver.matrices APPEND PROPERTY ENVIRONMENT
      "RUNCIBLE_HOST_TUNING=seed=3,matrices=3")
    add_dependencies(test_conformance test_module_host)
  endif()
endif()
if(TARGET example_remote_backend)
  rc_test_folder(remote)
  target_sources(test_remote PRIVATE api/api_util.cc)
  add_subdirectory(remote/module)
endif()
