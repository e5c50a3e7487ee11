#include "compute/custom/kernel_text.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace rc::compute {
namespace {

const char* opencl_c_type(DType type) {
  switch (type) {
    case RC_DTYPE_F32:
      return "float";
    case RC_DTYPE_F16:
    case RC_DTYPE_BF16:
      return "ushort";
    case RC_DTYPE_F64:
      return "double";
    case RC_DTYPE_I8:
      return "char";
    case RC_DTYPE_I16:
      return "short";
    case RC_DTYPE_I32:
      return "int";
    default:
      return "long";
  }
}

// With the words of the language for a parameter and for the end of one.
std::string parameters(const CustomSignature& signature, const char* before,
                       const char* end) {
  std::string text;
  const auto add = [&](const char* type, const std::string& name) {
    text += cat(before, type, " ", name, end);
  };
  for (size_t i = 0; i < signature.dimension_count(); ++i) {
    add("int", signature.names().names[i]);
  }
  for (const CustomAttribute& attribute : signature.attributes()) {
    add(attribute.integer ? "int" : "float", attribute.name);
  }
  const size_t tensors = signature.input_count() + signature.output_count();
  for (size_t i = 0; i < tensors; ++i) {
    add("uint", signature.tensor_name(i) + "_elements");
  }
  return text;
}

std::string line_directive(const std::string& file) {
  return cat("#line 1 \"", file, "\"\n");
}

std::string lines_of(const std::string& file, const std::string& text) {
  return text.empty() ? "" : cat(line_directive(file), text, "\n");
}

}  // namespace

std::string opencl_c_text(const std::string& op, const KernelBody& kernel,
                          const CustomSignature& signature,
                          std::span<const DType> types,
                          const GroupSize& group) {
  std::string text;
  for (const DType type : types) {
    if (type != RC_DTYPE_F64) continue;
    text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  }
  text += lines_of(op + " head", kernel.head);
  text += cat("kernel __attribute__((reqd_work_group_size(", group[0], ", ",
              group[1], ", ", group[2], ")))\nvoid custom_op(");
  std::string places, pointers;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string& name = signature.tensor_name(i);
    const char* memory =
        i < signature.input_count() ? "global const " : "global ";
    text += cat(i == 0 ? "" : ", ", memory, "uchar* ", name, "_memory");
    places += cat(", const ulong ", name, "_at");
    pointers += cat("  ", memory, opencl_c_type(types[i]), "* ", name, " = (",
                    memory, opencl_c_type(types[i]), "*)(", name, "_memory + ",
                    name, "_at);\n");
  }
  return cat(text, places, parameters(signature, ", const ", ""), ") {\n",
             pointers, lines_of(op, kernel.body), "}\n");
}

std::string glsl_text(const std::string& op, const KernelBody& kernel,
                      const CustomSignature& signature,
                      std::span<const DType> types, const GroupSize& group) {
  std::string text = cat(
      "#version 450\n#extension GL_GOOGLE_cpp_style_line_directive : enable\n"
      "layout(local_size_x = ",
      group[0], ", local_size_y = ", group[1], ", local_size_z = ", group[2],
      ") in;\n");
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string& name = signature.tensor_name(i);
    if (types[i] != RC_DTYPE_F32 && types[i] != RC_DTYPE_I32) {
      fail(RC_E_UNSUPPORTED, op, ": ", name, " is ", dtype_name(types[i]),
           ", which kernels in GLSL do not have; they have F32 and I32");
    }
    text += cat("layout(set = 0, binding = ", i, ", std430) ",
                i < signature.input_count() ? "readonly " : "", "buffer ", name,
                "_memory { ", types[i] == RC_DTYPE_F32 ? "float " : "int ",
                name, "[]; };\n");
  }
  return cat(text, "layout(push_constant) uniform Numbers {\n",
             parameters(signature, "  ", ";\n"), "};\n",
             lines_of(op + " head", kernel.head), "void main() {\n",
             lines_of(op, kernel.body), "}\n");
}

std::string where_lines_begin(const std::string& op, const std::string& text,
                              const std::string& said) {
  std::string places;
  for (const std::string& file : {op + " head", op}) {
    if (said.find(file + ":") != std::string::npos) return "";
    const std::string directive = line_directive(file);
    const size_t at = text.find(directive);
    if (at == std::string::npos) continue;
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(at + directive.size());
    places += cat("\nline ", std::count(text.begin(), end, '\n') + 1,
                  " of what was compiled is line 1 of ", file);
  }
  return places;
}

std::vector<uint32_t> kernel_words(const std::string& op,
                                   const CustomSignature& signature,
                                   std::span<const int64_t> numbers,
                                   std::span<const double> attributes) {
  std::vector<uint32_t> words;
  const auto add = [&](const std::string& name, int64_t number) {
    if (number > INT32_MAX) {
      fail(RC_E_UNSUPPORTED, op, ": ", name, " is ", number,
           ", and numbers of kernels have 32 bits");
    }
    words.push_back(static_cast<uint32_t>(number));
  };
  for (size_t i = 0; i < signature.dimension_count(); ++i) {
    add(signature.names().names[i], numbers[i]);
  }
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (signature.attributes()[i].integer) {
      words.push_back(
          static_cast<uint32_t>(static_cast<int32_t>(attributes[i])));
    } else {
      words.push_back(
          std::bit_cast<uint32_t>(static_cast<float>(attributes[i])));
    }
  }
  const size_t tensors = signature.input_count() + signature.output_count();
  for (size_t i = 0; i < tensors; ++i) {
    add(signature.tensor_name(i) + "_elements",
        numbers[signature.elements_place(i)]);
  }
  return words;
}

}  // namespace rc::compute
