// Functions that give the same bits on every platform with IEEE 754 doubles, so
// that a seed gives the same token everywhere: the functions of the C
// library differ in the last bit. Only additions, multiplications and divisions
// in a fixed order are used; build with -ffp-contract=off.
#pragma once

namespace rc {

// The natural logarithm of a positive, normal, finite number, with a relative
// error below 1e-15.
double portable_log(double x);

// e^x for x from -700 to 700, with a relative error below 1e-15.
double portable_exp(double x);

}  // namespace rc
