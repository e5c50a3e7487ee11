// exp and log that give the same bits on every platform with IEEE 754 doubles,
// so that a seed gives the same token everywhere: the functions of the C
// library differ in the last bit. Only additions, multiplications and divisions
// in a fixed order are used; build with -ffp-contract=off. Relative errors are
// below 1e-15.
#pragma once

namespace rc {

// e^x for x <= 0, which is all that a softmax needs; 0 below -708.
double portable_exp(double x);

// The natural logarithm of a positive, normal, finite number.
double portable_log(double x);

}  // namespace rc
