package runcible

import (
	"fmt"
)

// DType is a type of tensor elements.
//
//runcible:doc rc_dtype
type DType int32

const (
	F32     DType = 0
	F16     DType = 1
	Q4_0    DType = 2
	Q4_1    DType = 3
	Q5_0    DType = 6
	Q5_1    DType = 7
	Q8_0    DType = 8
	Q8_1    DType = 9
	Q2_K    DType = 10
	Q3_K    DType = 11
	Q4_K    DType = 12
	Q5_K    DType = 13
	Q6_K    DType = 14
	Q8_K    DType = 15
	IQ2_XXS DType = 16
	IQ2_XS  DType = 17
	IQ3_XXS DType = 18
	IQ1_S   DType = 19
	IQ4_NL  DType = 20
	IQ3_S   DType = 21
	IQ2_S   DType = 22
	IQ4_XS  DType = 23
	I8      DType = 24
	I16     DType = 25
	I32     DType = 26
	I64     DType = 27
	F64     DType = 28
	IQ1_M   DType = 29
	BF16    DType = 30
	TQ1_0   DType = 34
	TQ2_0   DType = 35
	MXFP4   DType = 39
	NVFP4   DType = 40
	Q1_0    DType = 41
)

var dtypeNames = map[DType]string{
	F32:     "f32",
	F16:     "f16",
	Q4_0:    "q4_0",
	Q4_1:    "q4_1",
	Q5_0:    "q5_0",
	Q5_1:    "q5_1",
	Q8_0:    "q8_0",
	Q8_1:    "q8_1",
	Q2_K:    "q2_k",
	Q3_K:    "q3_k",
	Q4_K:    "q4_k",
	Q5_K:    "q5_k",
	Q6_K:    "q6_k",
	Q8_K:    "q8_k",
	IQ2_XXS: "iq2_xxs",
	IQ2_XS:  "iq2_xs",
	IQ3_XXS: "iq3_xxs",
	IQ1_S:   "iq1_s",
	IQ4_NL:  "iq4_nl",
	IQ3_S:   "iq3_s",
	IQ2_S:   "iq2_s",
	IQ4_XS:  "iq4_xs",
	I8:      "i8",
	I16:     "i16",
	I32:     "i32",
	I64:     "i64",
	F64:     "f64",
	IQ1_M:   "iq1_m",
	BF16:    "bf16",
	TQ1_0:   "tq1_0",
	TQ2_0:   "tq2_0",
	MXFP4:   "mxfp4",
	NVFP4:   "nvfp4",
	Q1_0:    "q1_0",
}

// String is the name in lower case, "q4_k".
func (d DType) String() string {
	if name, ok := dtypeNames[d]; ok {
		return name
	}
	return fmt.Sprintf("DType(%d)", int32(d))
}

// ParseDType is the type of a name in lower case.
func ParseDType(name string) (DType, error) {
	for dtype, known := range dtypeNames {
		if known == name {
			return dtype, nil
		}
	}
	return 0, newError(ErrInvalidArgument, fmt.Sprintf("there is no dtype %q", name))
}
