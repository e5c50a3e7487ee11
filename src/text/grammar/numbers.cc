#include "text/grammar/numbers.h"

#include <algorithm>

#include "base/error.h"

namespace rc::text::grammar {
namespace {

constexpr int kFirstLarge = 16;  // no fraction is left with 16 digits or fewer
constexpr int kLastExponent = 308;

// Divisors of fewer digits are kept as they are.
constexpr size_t kMaxDivisorDigits = 4;

}  // namespace

// The expressions are put together from their parts: parsing them would take
// most of the time of a small schema.
Numbers::Numbers(ExprPool* pool) : pool_(*pool) {
  const ExprId zero = digit('0', '0');
  const ExprId first = digit('1', '9');
  const ExprId any = digits(0, kUnbounded);
  const ExprId some = digits(1, kUnbounded);
  const ExprId point = pool_.literal(".");
  const ExprId e = pool_.set(CharSet::of("eE"));
  minus_ = pool_.literal("-");
  const ExprId sign = pool_.optional(minus_);
  any_fraction_ = pool_.optional(pool_.concat(point, some));
  const ExprId whole = pool_.either(zero, pool_.concat(first, any));
  plain_unsigned_ = pool_.concat(whole, any_fraction_);
  // A fraction that does not end with 0.
  const ExprId fraction = pool_.concat({point, any, first});
  shortest_ = pool_.either(
      zero, pool_.concat(
                sign, pool_.either(
                          pool_.concat({first, any, pool_.optional(fraction)}),
                          pool_.concat(zero, fraction))));
  mantissa_ =
      pool_.concat(first, pool_.optional(pool_.concat(point, digits(1, 16))));
  // [12][0-9][0-9]|30[0-8]
  const ExprId hundreds =
      pool_.either(pool_.concat(digit('1', '2'), digits(2, 2)),
                   pool_.concat(pool_.literal("30"), digit('0', '8')));
  const ExprId perhaps_zero = pool_.optional(zero);
  // [eE]\+?0?(1[6-9]|[2-9][0-9]|[12][0-9][0-9]|30[0-8])
  large_ = pool_.concat(
      {e, pool_.optional(pool_.literal("+")), perhaps_zero,
       pool_.either({pool_.concat(digit('1', '1'), digit('6', '9')),
                     pool_.concat(digit('2', '9'), digits(1, 1)), hundreds})});
  // [eE]-(0?0?[1-9]|0?[1-9][0-9]|[12][0-9][0-9]|30[0-8])
  small_ = pool_.concat(
      {e, minus_,
       pool_.either({pool_.concat({perhaps_zero, perhaps_zero, first}),
                     pool_.concat({perhaps_zero, first, digits(1, 1)}),
                     hundreds})});
  unsigned_ = pool_.either(
      plain_unsigned_, pool_.concat(mantissa_, pool_.either(large_, small_)));
  every_ = pool_.concat(
      {sign, whole, any_fraction_,
       pool_.optional(pool_.concat(
           {e, pool_.optional(pool_.set(CharSet::of("+-"))), some}))});
  const ExprId zeros = pool_.repeat(zero, 1, kUnbounded);
  integers_.in = pool_.concat(
      sign, pool_.either(
                pool_.concat(whole, pool_.optional(pool_.concat(point, zeros))),
                pool_.concat(mantissa_, large_)));
  integers_.out =
      pool_.concat(sign, pool_.either(pool_.concat({whole, fraction, any}),
                                      pool_.concat(mantissa_, small_)));
  plain_integers_.in = pool_.concat(sign, whole);
  plain_integers_.out = pool_.concat(
      sign,
      pool_.either(pool_.concat({whole, point, some}),
                   pool_.concat(mantissa_, pool_.either(large_, small_))));
}

ExprId Numbers::digit(char low, char high) {
  if (low > high) return ExprPool::kNothing;
  return pool_.set(CharSet::of(static_cast<unsigned char>(low),
                               static_cast<unsigned char>(high)));
}

ExprId Numbers::digits(uint32_t min, uint32_t max) {
  return pool_.repeat(digit('0', '9'), min, max);
}

// The texts that may follow `whole`, with its point: fractions on one side of
// 0.`fraction`, which does not end with 0.
ExprId Numbers::fractions(const std::string& fraction, Side side) {
  const ExprId zeros = pool_.repeat(digit('0', '0'), 0, kUnbounded);
  const ExprId any = digits(0, kUnbounded);
  const ExprId point = pool_.literal(".");
  if (side == Side::kEqual) {
    if (fraction.empty()) {
      return pool_.optional(
          pool_.concat(point, pool_.repeat(digit('0', '0'), 1, kUnbounded)));
    }
    return pool_.concat({point, pool_.literal(fraction), zeros});
  }
  std::vector<ExprId> parts;
  for (size_t i = 0; i < fraction.size(); ++i) {
    const ExprId begin = pool_.literal(fraction.substr(0, i));
    const ExprId differs = side == Side::kBelow
                               ? digit('0', static_cast<char>(fraction[i] - 1))
                               : digit(static_cast<char>(fraction[i] + 1), '9');
    parts.push_back(pool_.concat({point, begin, differs, any}));
    // Numbers that end early are below.
    if (side == Side::kBelow) {
      parts.push_back(i == 0 ? ExprPool::kEmpty : pool_.concat(point, begin));
    }
  }
  if (side == Side::kAbove) {
    parts.push_back(pool_.concat(
        {point, pool_.literal(fraction), zeros, digit('1', '9'), any}));
  }
  return pool_.either(std::move(parts));
}

// Plain decimals; with a fixed whole part, only those with as many digits.
ExprId Numbers::plain_side(const std::string& whole,
                           const std::string& fraction, Side side,
                           bool fixed_whole) {
  std::vector<ExprId> parts = {
      pool_.concat(pool_.literal(whole), fractions(fraction, side))};
  if (side == Side::kEqual) return parts[0];
  const auto size = static_cast<uint32_t>(whole.size());
  std::vector<ExprId> wholes;
  for (uint32_t i = 0; i < size; ++i) {
    // A first digit of 0 stands by itself.
    const char least = i == 0 && (size > 1 || fixed_whole) ? '1' : '0';
    const ExprId differs = side == Side::kBelow
                               ? digit(least, static_cast<char>(whole[i] - 1))
                               : digit(static_cast<char>(whole[i] + 1), '9');
    wholes.push_back(pool_.concat({pool_.literal(whole.substr(0, i)), differs,
                                   digits(size - i - 1, size - i - 1)}));
  }
  if (!fixed_whole) {
    if (side == Side::kAbove) {
      wholes.push_back(pool_.concat(digit('1', '9'), digits(size, kUnbounded)));
    } else if (size > 1) {
      wholes.push_back(digit('0', '0'));
      wholes.push_back(pool_.concat(digit('1', '9'), digits(0, size - 2)));
    }
  }
  parts.push_back(pool_.concat(pool_.either(std::move(wholes)), any_fraction_));
  return pool_.either(std::move(parts));
}

// Exponents, with their "e", on one side of `limit`.
ExprId Numbers::exponents_beyond(int limit, Side side) {
  const auto known = exponents_.find({limit, side});
  if (known != exponents_.end()) return known->second;
  const ExprId made = make_exponents(limit, side);
  exponents_.emplace(std::pair(limit, side), made);
  return made;
}

ExprId Numbers::make_exponents(int limit, Side side) {
  std::vector<std::string> large;
  std::vector<std::string> small;
  const auto wanted = [&](int e) {
    return side == Side::kEqual
               ? e == limit
               : (side == Side::kBelow) == (e < limit) && e != limit;
  };
  const auto add = [&](int e) {
    if (!wanted(e)) return;
    std::vector<std::string>& list = e < 0 ? small : large;
    for (std::string text = std::to_string(std::abs(e)); text.size() <= 3;
         text.insert(0, "0")) {
      list.push_back(text);
    }
  };
  const bool all_large = limit < kFirstLarge && side == Side::kAbove;
  const bool all_small = limit > -1 && side == Side::kBelow;
  if (!all_large) {
    for (int e = kFirstLarge; e <= kLastExponent; ++e) add(e);
  }
  if (!all_small) {
    for (int e = -kLastExponent; e < 0; ++e) add(e);
  }
  const ExprId e = pool_.set(CharSet::of("eE"));
  return pool_.either(
      {all_large ? large_
                 : pool_.concat({e, pool_.optional(pool_.literal("+")),
                                 pool_.one_of(std::move(large))}),
       all_small ? small_
                 : pool_.concat({e, minus_, pool_.one_of(std::move(small))})});
}

ExprId Numbers::scientific_side(const Decimal& limit, Side side) {
  const int power = limit.exponent - 1;  // of d.ddd * 10^power
  const ExprId same =
      pool_.both(mantissa_, plain_side(limit.digits.substr(0, 1),
                                       limit.digits.substr(1), side, true));
  const ExprId here = pool_.concat(same, exponents_beyond(power, Side::kEqual));
  if (side == Side::kEqual) return here;
  return pool_.either(here,
                      pool_.concat(mantissa_, exponents_beyond(power, side)));
}

ExprId Numbers::magnitudes(const Decimal& limit, Side side) {
  const ExprId plain = plain_side(limit.whole(), limit.fraction(), side, false);
  if (limit.zero()) {
    // Scientific notation has no zero.
    return side == Side::kAbove
               ? pool_.either(plain, pool_.concat(mantissa_,
                                                  pool_.either(large_, small_)))
               : plain;
  }
  return pool_.either(plain, scientific_side(limit, side));
}

ExprId Numbers::side_of(const Decimal& limit, Side side) {
  Decimal zero;
  if (side == Side::kEqual) {
    const ExprId same = magnitudes(limit, side);
    if (limit.zero()) return pool_.concat(pool_.optional(minus_), same);
    return limit.negative ? pool_.concat(minus_, same) : same;
  }
  // The numbers of the limit's own sign, and of the other one all or none.
  const bool outward = limit.negative == (side == Side::kBelow);
  const ExprId here = magnitudes(limit, outward ? Side::kAbove : Side::kBelow);
  if (limit.zero()) {
    const ExprId beyond = magnitudes(zero, Side::kAbove);
    return side == Side::kBelow ? pool_.concat(minus_, beyond) : beyond;
  }
  const ExprId own = limit.negative ? pool_.concat(minus_, here) : here;
  if (outward) return own;
  return pool_.either(
      own, limit.negative ? unsigned_ : pool_.concat(minus_, unsigned_));
}

LexicalSet Numbers::above(const Decimal& limit, bool inclusive) {
  const ExprId equal = side_of(limit, Side::kEqual);
  const ExprId over = side_of(limit, Side::kAbove);
  const ExprId under = side_of(limit, Side::kBelow);
  return inclusive ? LexicalSet{pool_.either(over, equal), under}
                   : LexicalSet{over, pool_.either(under, equal)};
}

LexicalSet Numbers::below(const Decimal& limit, bool inclusive) {
  return negate(above(limit, !inclusive));
}

LexicalSet Numbers::equal(const Decimal& value) {
  return {
      side_of(value, Side::kEqual),
      pool_.either(side_of(value, Side::kBelow), side_of(value, Side::kAbove))};
}

uint64_t Numbers::count(const LexicalSet& numbers, uint64_t cap) {
  const ExprId plain = pool_.concat(pool_.optional(minus_), plain_unsigned_);
  if (pool_.live(pool_.both(numbers.in, pool_.negate(plain)))) return cap;
  return pool_.count(pool_.both(numbers.in, shortest_), cap);
}

LexicalSet Numbers::multiples(const Decimal& divisor) {
  const std::string fraction = divisor.fraction();
  const std::string number = divisor.whole() + fraction;
  const auto first = std::min(number.find_first_not_of('0'), number.size() - 1);
  std::string significant = number.substr(first);
  // A factor of a power of ten takes no remainders, but zeros in the end.
  uint32_t zeros = 0;
  while (fraction.empty() && significant.size() > kMaxDivisorDigits &&
         significant.back() == '0' && zeros < kLastExponent) {
    significant.pop_back();
    ++zeros;
  }
  // Fits in 32 bits by its length.
  const unsigned long value =
      significant.size() <= 9 ? std::stoul(significant) : 0;
  if (divisor.negative || value == 0 || value > ExprPool::kMaxDivisor ||
      fraction.size() > ExprPool::kMaxDecimals) {
    fail(RC_E_UNSUPPORTED, "multiples of ", divisor.negative ? "-" : "",
         divisor.whole(), fraction.empty() ? "" : ".", fraction,
         " are not supported: without its point and the zeros around it a "
         "divisor is 1 to ",
         ExprPool::kMaxDivisor, ", with at most ", ExprPool::kMaxDecimals,
         " decimals; each of the remainders takes a state");
  }
  if (zeros > 0) return round_multiples(static_cast<uint32_t>(value), zeros);
  const auto decimals = static_cast<uint32_t>(fraction.size());
  const ExprId multiple =
      pool_.multiple(static_cast<uint32_t>(value), decimals);
  const ExprId sign = pool_.optional(minus_);
  LexicalSet set = {
      pool_.concat(sign, pool_.both(plain_unsigned_, multiple)),
      pool_.concat(sign, pool_.both(plain_unsigned_, pool_.negate(multiple)))};
  uint64_t power = 1;
  for (uint32_t i = 0; i < decimals; ++i) power *= 10;
  if (power % value == 0) {
    // Every integer is a multiple.
    set.in = pool_.either(set.in, pool_.concat({sign, mantissa_, large_}));
  }
  return set;
}

// Multiples of `factor` with zeros behind them.
LexicalSet Numbers::round_multiples(uint32_t factor, uint32_t zeros) {
  const ExprId zero = digit('0', '0');
  const ExprId whole = pool_.either(
      zero, pool_.concat(
                pool_.both(pool_.concat(digit('1', '9'), digits(0, kUnbounded)),
                           pool_.multiple(factor, 0)),
                pool_.repeat(zero, zeros, zeros)));
  const ExprId multiple = pool_.concat(whole, fractions("", Side::kEqual));
  const ExprId sign = pool_.optional(minus_);
  return {
      pool_.concat(sign, multiple),
      pool_.concat(sign, pool_.both(plain_unsigned_, pool_.negate(multiple)))};
}

}  // namespace rc::text::grammar
