// Writes what kernels need to know of the block formats, from their
// descriptions in src/tensor/formats, when the backends are built:
//
//   write_formats formats.cl     macros, for backends/gpu/kernels/c/blocks.cl
//   write_formats formats.glsl   for backends/gpu/kernels/glsl/numbers.glsl
//   write_formats values.glsl    the tables alone, for tables.glsl there
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "tensor/formats/codebooks.h"
#include "tensor/formats/coded_formats.h"

namespace {

using rc::BitKind;
using rc::BitNumber;
using rc::BitPlace;
using rc::BitPlane;
using rc::BitRow;
using rc::BlockFormat;
using rc::Codebook;
using rc::CodedFormat;
using rc::Minimum;
using rc::ScaleKind;
using rc::ValueTable;

template <class... Args>
std::string text(const char* form, Args... args) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, form, args...);
  return buffer;
}

// The members of a plane, in their order.
std::string members(const BitPlane& plane) {
  return text("%d, %d, %d, %d, %d", plane.at, plane.width, plane.stride,
              plane.first, plane.step != 0 ? plane.step : plane.stride);
}

// The members of a row of bits, in their order. A run has no end if it is 0.
std::string members(const BitRow& row) {
  return text("%d, %d, %d, %d, %d", row.at, row.width, row.step,
              row.run != 0 ? row.run : 1 << 15, row.run_step);
}

std::span<const uint16_t> entries_of(Codebook book) {
  switch (book) {
    case Codebook::kIQ2XXS:
      return rc::kIQ2XXSEntries;
    case Codebook::kIQ2XS:
      return rc::kIQ2XSEntries;
    case Codebook::kIQ2S:
      return rc::kIQ2SEntries;
    case Codebook::kIQ3XXS:
      return rc::kIQ3XXSEntries;
    case Codebook::kIQ3S:
      return rc::kIQ3SEntries;
    case Codebook::kIQ1S:
      return rc::kIQ1SEntries;
    case Codebook::kNone:
      break;
  }
  return {};
}

// Bits of a digit of a coded type.
int digit_bits(const CodedFormat& format) {
  const BlockFormat& expanded = *rc::find_block_format(format.expanded);
  return width_of(expanded.quant) - (format.sign.width > 0 ? 1 : 0);
}

// C dialect

void define(const char* name, const std::string& value) {
  std::printf("#define %s %s\n", name, value.c_str());
}
void define(const char* name, int value) { define(name, text("%d", value)); }
void define(const char* name) { std::printf("#define %s\n", name); }

std::string meant_by(const std::string& bits, BitKind kind) {
  if (kind == BitKind::kOdd) return "(2 * " + bits + " + 1)";
  if (kind == BitKind::kE4M3) return "e4m3(" + bits + ")";
  return bits;
}

// The integer number i of a block at p.
std::string integer_at(const BitNumber& number) {
  if (number.is_signed) return text("SIGNED_BYTE(p, %d + (i))", number.low.at);
  std::string bits = "plane_bits(p, " + members(number.low) + ", i)";
  if (number.high.width > 0) {
    bits = "(" + bits + " | plane_bits(p, " + members(number.high) +
           text(", i) << %d)", number.low.width);
  }
  const int whole = undivided(number);
  if (whole > 0) {
    const BitPlace first = place_of(number.low, 0);
    bits = text("((i) < %d ? (BYTE(p, %d + (i)) >> %d) & %d : ", whole,
                first.byte, first.shift, (1 << width_of(number)) - 1) +
           bits + ")";
  }
  if (number.zero != 0) bits = "(" + bits + text(" - %d)", number.zero);
  return meant_by(bits, number.kind);
}

// The division of a block into chunks of pairs; see blocks.cl. 0 if it is
// impossible.
struct Chunks {
  int span = 0;
  int apart = 0;
};

Chunks chunks_of(const BlockFormat& format) {
  const BitPlane& low = format.quant.low;
  const BitPlane& high = format.quant.high;
  const int group = format.group > 0 ? format.group : 32;
  // Bits that are read one by one, or bytes.
  if (low.width == 8 || low.stride == 1) return {16, 16};
  const int span = low.stride < group ? low.stride : group;
  // The bits of a pair's quants that are not in one byte are in neighbouring
  // ones for all of a chunk.
  const bool fits = high.width == 0 || high.stride >= span ||
                    (high.stride == 1 && high.width == 1 && span == 16);
  return span >= 16 && span <= 32 && fits ? Chunks{span, low.stride} : Chunks{};
}

// Writes the values of quants.
void write_values(const BlockFormat& format) {
  if (format.quant.zero != 0) define("ZERO", text("%d.0f", format.quant.zero));
  if (format.table == ValueTable::kE2M1) {
    define("QUANTS_ARE_E2M1");
  } else if (format.table != ValueTable::kNone) {
    std::string values;
    for (int i = 0; i < 16; ++i) {
      values += text(i == 0 ? "%d" : ", %d", values_of(format.table)[i]);
    }
    define("QUANT_VALUES", values);
  }
}

bool write_quants(const BlockFormat& format) {
  const Chunks chunks = chunks_of(format);
  if (chunks.span == 0) {
    std::fprintf(stderr, "blocks.cl cannot read the quants of %s\n",
                 format.name);
    return false;
  }
  define("SPAN", chunks.span);
  define("APART", chunks.apart);
  define("QUANTS", members(format.quant.low));
  define("QUANT_BITS", format.quant.low.width);
  if (format.quant.low.stride == 1) define("SINGLE_QUANTS");
  if (format.quant.is_signed) define("SIGNED_QUANTS");
  if (format.quant.high.width > 0) {
    define("HIGH_QUANTS", members(format.quant.high));
    define("HIGH_BITS", format.quant.high.width);
    define("HIGH_STRIDE", format.quant.high.stride);
  }
  write_values(format);
  return true;
}

void write_scale(const BlockFormat& format, const std::string& scale) {
  const int exponent = format.scale.exponent;
  define("SCALE(p)",
         exponent == 0 ? scale : scale + text(" * 0x1p%df", exponent));
}

void write_scales(const BlockFormat& format) {
  const char* const kinds[] = {"HALF(p, %d)", "FLOAT(p, %d)",
                               "power_of_two(BYTE(p, %d))", "(floatL)(1.0f)"};
  write_scale(format, text(kinds[static_cast<int>(format.scale.kind)],
                           format.scale.at));
  if (format.minimum.sign != Minimum::kNone) {
    const bool added = format.minimum.sign == Minimum::kAdded;
    define("MINIMUMS");
    define("MINIMUM(p)",
           text(added ? "HALF(p, %d)" : "-HALF(p, %d)", format.minimum.at));
  }
  if (format.group == 0) return;
  define("GROUP", format.group);
  define("SCALE_FACTOR(p, i)", integer_at(format.scale_factor));
  if (width_of(format.minimum_factor) > 0) {
    define("MINIMUM_FACTOR(p, i)", integer_at(format.minimum_factor));
  }
}

// Of blocks as files hold them.
void write_coded(const CodedFormat& format) {
  const BlockFormat& expanded = *rc::find_block_format(format.expanded);
  define("CODED");
  define("SPAN", 16);
  define("APART", 16);
  define("DIGIT_BITS", digit_bits(format));
  write_values(expanded);
  if (format.book != Codebook::kNone) {
    const std::span<const uint16_t> entries = entries_of(format.book);
    define("ENTRIES", static_cast<int>(entries.size()));
    define("INDEX", members(format.index));
    define("INDEX_BITS", format.index.width);
    if (format.index_high.width > 0) {
      define("INDEX_HIGH", members(format.index_high));
    }
    std::puts("CONSTANT ushort entries[ENTRIES] = {");
    for (size_t i = 0; i < entries.size(); ++i) {
      std::printf("%d,%s", entries[i], i % 16 == 15 ? "\n" : " ");
    }
    std::puts("};");
  } else if (format.plane.width > 0) {
    define("CODED_PLANE", members(format.plane));
  } else {
    define("TERNARY");
    const char* const names[] = {"TERNARY_0", "TERNARY_1", "TERNARY_2"};
    for (int i = 0; i < 3; ++i) {
      const rc::TernaryBytes& bytes = format.ternary[i];
      define(names[i], text("%d, %d", bytes.at, bytes.stride));
    }
    define("TERNARY_END_0",
           format.ternary[0].stride * format.ternary[0].digits);
    define("TERNARY_END_1",
           format.ternary[0].stride * format.ternary[0].digits +
               format.ternary[1].stride * format.ternary[1].digits);
  }
  if (format.sign.width > 0) {
    define("SIGN", members(format.sign));
    define("SIGN_BITS", format.sign.width);
    define("SIGN_ELEMENTS", format.sign_elements);
  }
  std::string scale = text("HALF(p, %d)", format.scale_at);
  if (expanded.scale.kind == ScaleKind::kOne) scale = "(floatL)(1.0f)";
  if (format.scale_parts.width > 0) {
    scale = "half_bits((intL)(scale_of_parts(p, " +
            members(format.scale_parts) + ")))";
  }
  write_scale(expanded, scale);
  if (format.group == 0) return;
  define("GROUP", format.group);
  define("SCALE_FACTOR(p, i)",
         meant_by("(intL)(row_bits(p, " + members(format.factor) + ", i))",
                  expanded.scale_factor.kind));
}

bool write_macros() {
  std::puts("#if defined(PLAIN)");
  for (const BlockFormat& format : rc::kBlockFormats) {
    std::printf("\n#elif defined(TYPE_%s)\n", format.name);
    define("BLOCK", format.elements);
    define("BLOCK_BYTES", format.bytes);
    if (!write_quants(format)) return false;
    write_scales(format);
  }
  for (const CodedFormat& format : rc::kCodedFormats) {
    std::printf("\n#elif defined(TYPE_%s)\n", format.name);
    define("BLOCK", format.elements);
    define("BLOCK_BYTES", format.bytes);
    write_coded(format);
  }
  std::puts("\n#endif");
  return true;
}

// GLSL

std::string constructor(const BitNumber& number) {
  return "Number(Plane(" + members(number.low) + "), Plane(" +
         members(number.high) +
         text("), %s, %d)", number.is_signed ? "true" : "false", number.zero);
}

// A table is chosen before it is looked into, so that shaders, which have this
// once for each number that they decode, stay short for their compilers.
void write_tables() {
  std::string chosen = "uvec4(0)";
  for (int number = 1; number <= rc::kValueTableCount; ++number) {
    uint32_t words[4];
    std::memcpy(words, rc::kValueTables[number - 1].values, sizeof words);
    chosen = text(
                 "table == %d ? uvec4(0x%08Xu, 0x%08Xu, 0x%08Xu, 0x%08Xu)\n"
                 "         : ",
                 number, words[0], words[1], words[2], words[3]) +
             chosen;
  }
  std::printf("uvec4 table_of(uint table) {\n  return %s;\n}\n",
              chosen.c_str());
  for (int number = 1; number <= rc::kValueTableCount; ++number) {
    std::printf(
        "\nint %s_value(uint bits) { return look_up(table_of(%d), bits); }\n",
        rc::kValueTables[number - 1].name, number);
  }
}

void write_descriptions() {
  std::printf(
      "BlockFormat described(uint type) {\n"
      "  const Number none = %s;\n"
      "  BlockFormat format =\n"
      "      BlockFormat(none, 0, Scale(0, 0), Minimum(0, 0), 0, none, none);\n"
      "  switch (type) {\n",
      constructor(BitNumber{}).c_str());
  for (const BlockFormat& format : rc::kBlockFormats) {
    if (format.is_expanded) continue;
    std::printf("    case %d:  // %s\n", static_cast<int>(format.dtype),
                format.name);
    const auto set = [](const char* member, const std::string& value) {
      std::printf("      format.%s = %s;\n", member, value.c_str());
    };
    set("quant", constructor(format.quant));
    set("scale", text("Scale(%d, %d)", format.scale.at,
                      static_cast<int>(format.scale.kind)));
    if (format.table != ValueTable::kNone) {
      set("table", text("%d", static_cast<int>(format.table)));
    }
    if (format.minimum.sign != Minimum::kNone) {
      set("minimum",
          text("Minimum(%d, %d)", static_cast<int>(format.minimum.sign),
               format.minimum.at));
    }
    if (format.group > 0) {
      set("group", text("%d", format.group));
      set("scale_factor", constructor(format.scale_factor));
    }
    if (width_of(format.minimum_factor) > 0) {
      set("minimum_factor", constructor(format.minimum_factor));
    }
    std::puts("      break;");
  }
  std::puts("  }\n  return format;\n}");
}

std::string constructor(const BitRow& row) {
  return "Row(" + members(row) + ")";
}

void write_coded_descriptions() {
  std::puts("\nbool is_coded(uint type) {\n  switch (type) {");
  for (const CodedFormat& format : rc::kCodedFormats) {
    if (format.book != Codebook::kNone) continue;
    std::printf("    case %d:\n", static_cast<int>(format.dtype));
  }
  std::puts(
      "      return true;\n  }\n  return false;\n}\n\n"
      "CodedFormat coded(uint type) {\n  CodedFormat format;\n"
      "  switch (type) {");
  for (const CodedFormat& format : rc::kCodedFormats) {
    if (format.book != Codebook::kNone) continue;
    const BlockFormat& expanded = *rc::find_block_format(format.expanded);
    std::printf("    case %d:  // %s\n", static_cast<int>(format.dtype),
                format.name);
    const auto set = [](const char* member, const std::string& value) {
      std::printf("      format.%s = %s;\n", member, value.c_str());
    };
    const auto number = [](int value) { return text("%d", value); };
    for (int i = 0; i < 3; ++i) {
      const rc::TernaryBytes& bytes = format.ternary[i];
      std::printf("      format.ternary[%d] = TernaryBytes(%d, %d, %d);\n", i,
                  bytes.at, bytes.stride, bytes.digits);
    }
    set("plane", "Plane(" + members(format.plane) + ")");
    set("scale_kind", number(static_cast<int>(expanded.scale.kind)));
    set("scale_at", number(format.scale_at));
    set("unit",
        text("%.12f", static_cast<double>(rc::power(expanded.scale.exponent))));
    set("group", number(format.group));
    set("factor", constructor(format.factor));
    set("factor_kind", number(static_cast<int>(expanded.scale_factor.kind)));
    set("table", number(static_cast<int>(expanded.table)));
    set("zero", number(expanded.quant.zero));
    std::puts("      break;");
  }
  std::puts("  }\n  return format;\n}");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 || std::freopen(arguments[1], "w", stdout) == nullptr) {
    std::fprintf(stderr, "usage: write_formats FILE\n");
    return 2;
  }
  const std::string path = arguments[1];
  const std::string name = path.substr(path.rfind('/') + 1);
  std::puts("// Made from src/tensor/formats/formats.h by write_formats.cc.\n");
  bool written = true;
  if (name == "formats.cl") {
    written = write_macros();
  } else if (name == "formats.glsl") {
    write_descriptions();
    write_coded_descriptions();
  } else if (name == "values.glsl") {
    write_tables();
  } else {
    std::fprintf(stderr, "write_formats knows no %s\n", name.c_str());
    written = false;
  }
  return written && std::fclose(stdout) == 0 ? 0 : 1;
}
