// The syntax tree of a chat template. Immutable once parsed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/lexer.h"
#include "text/chat/numbers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

struct Builtin;
struct Expression;
struct Statement;
using ExpressionPtr = std::unique_ptr<const Expression>;
using Body = std::vector<std::unique_ptr<const Statement>>;

// Variables by number, in the order in which their names appear.
using NameId = uint32_t;

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr list;  // *expression
  ExpressionPtr dict;  // **expression
};

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kNotIn,
};

enum class ExpressionKind : uint8_t {
  kConstant,
  kName,
  kCaptured,     // what a block captured, for the filters of the block
  kList,         // parts
  kTuple,        // parts
  kDict,         // parts: key, value, key, value, ...
  kAttribute,    // parts[0].text
  kItem,         // parts[0][parts[1]]
  kSlice,        // parts[0][parts[1]:parts[2]:parts[3]], each may be null
  kCall,         // parts[0](arguments)
  kFilter,       // parts[0]|text(arguments)
  kTest,         // parts[0] is text(arguments)
  kNot,          // parts[0]
  kNegative,     // parts[0]
  kPositive,     // parts[0]
  kAnd,          // parts[0] and parts[1]
  kOr,           // parts[0] or parts[1]
  kArithmetic,   // parts[0] operation parts[1]
  kConcat,       // parts[0] ~ parts[1] ~ ...
  kCompare,      // parts[0] comparisons[0] parts[1] comparisons[1] ...
  kConditional,  // parts[1] if parts[0] else parts[2], which may be null
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kConstant;
  Arithmetic operation = Arithmetic::kAdd;
  Position at;
  size_t depth = 1;  // levels of expressions within it
  NameId name = 0;
  Value constant;
  std::string text;
  // Of a filter or test; nullptr if there is none of that name, which is an
  // error only when it is reached.
  const Builtin* builtin = nullptr;
  std::vector<ExpressionPtr> parts;
  std::vector<Comparison> comparisons;
  std::unique_ptr<const CallArguments> arguments;
};

// The target of an assignment: a name, an attribute of a namespace, or several.
struct Target {
  enum class Kind : uint8_t { kName, kAttribute, kTuple };
  Kind kind = Kind::kName;
  Position at;
  NameId name = 0;
  std::string attribute;
  std::vector<Target> parts;
};

struct Parameter {
  NameId name;
  std::string text;
  ExpressionPtr initial;  // null if it has to be given
};

// A macro, or the body of a call block.
struct MacroDefinition {
  std::string name;  // empty for a call block
  std::vector<Parameter> parameters;
  Body body;
  // Whether the body speaks of these.
  bool uses_caller = false;
  bool uses_kwargs = false;
  bool uses_varargs = false;
};

enum class StatementKind : uint8_t {
  kText,         // text
  kPrint,        // expression
  kIf,           // branches
  kFor,          // target, expression, test, body, otherwise
  kSet,          // target, expression
  kSetBlock,     // target, body, expression: the filters, or null
  kMacro,        // target, macro
  kCallBlock,    // macro, expression: the call
  kFilterBlock,  // body, expression: the filters
  kWith,         // assignments, body
  kGeneration,   // body
  kBreak,
  kContinue,
};

struct Statement {
  StatementKind kind = StatementKind::kText;
  Position at;
  std::string text;
  Target target;
  ExpressionPtr expression;
  ExpressionPtr test;
  bool is_recursive = false;
  bool uses_loop = false;  // the body of a loop speaks of `loop`
  // The test is null for `else`.
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  std::vector<std::pair<Target, ExpressionPtr>> assignments;
  Body body;
  Body otherwise;
  std::shared_ptr<const MacroDefinition> macro;
};

struct Syntax {
  Body body;
  std::vector<std::string> names;     // by NameId
  std::map<std::string, NameId> ids;  // and back
  NameId caller = 0, kwargs = 0, varargs = 0, loop = 0;
};

}  // namespace rc::text::chat
