package runcible

import (
	"testing"

	"runcible/internal/native"
)

func TestNumbersAreThoseOfTheHeaders(t *testing.T) {
	types := map[DType]int{
		F32: native.DTYPE_F32, F16: native.DTYPE_F16, Q4_0: native.DTYPE_Q4_0, Q4_1: native.DTYPE_Q4_1,
		Q5_0: native.DTYPE_Q5_0, Q5_1: native.DTYPE_Q5_1, Q8_0: native.DTYPE_Q8_0, Q8_1: native.DTYPE_Q8_1,
		Q2_K: native.DTYPE_Q2_K, Q3_K: native.DTYPE_Q3_K, Q4_K: native.DTYPE_Q4_K, Q5_K: native.DTYPE_Q5_K,
		Q6_K: native.DTYPE_Q6_K, Q8_K: native.DTYPE_Q8_K, IQ2_XXS: native.DTYPE_IQ2_XXS, IQ2_XS: native.DTYPE_IQ2_XS,
		IQ3_XXS: native.DTYPE_IQ3_XXS, IQ1_S: native.DTYPE_IQ1_S, IQ4_NL: native.DTYPE_IQ4_NL,
		IQ3_S: native.DTYPE_IQ3_S, IQ2_S: native.DTYPE_IQ2_S, IQ4_XS: native.DTYPE_IQ4_XS, I8: native.DTYPE_I8,
		I16: native.DTYPE_I16, I32: native.DTYPE_I32, I64: native.DTYPE_I64, F64: native.DTYPE_F64,
		IQ1_M: native.DTYPE_IQ1_M, BF16: native.DTYPE_BF16, TQ1_0: native.DTYPE_TQ1_0, TQ2_0: native.DTYPE_TQ2_0,
		MXFP4: native.DTYPE_MXFP4, NVFP4: native.DTYPE_NVFP4, Q1_0: native.DTYPE_Q1_0,
	}
	for dtype, number := range types {
		if int(dtype) != number {
			t.Errorf("%v is %d, not %d", dtype, dtype, number)
		}
		if parsed, err := ParseDType(dtype.String()); err != nil || parsed != dtype {
			t.Errorf("%v is parsed as %v (%v)", dtype, parsed, err)
		}
	}
	if len(types) != len(dtypeNames) {
		t.Errorf("%d types, but %d names", len(types), len(dtypeNames))
	}
	for _, more := range []map[int32]int{
		{int32(EndStop): native.END_STOP, int32(EndLength): native.END_LENGTH,
			int32(EndStopString): native.END_STOP_STRING, int32(EndCancelled): native.END_CANCELLED,
			int32(EndDeadline): native.END_DEADLINE, int32(EndContext): native.END_CONTEXT,
			int32(EndError): native.END_ERROR},
		{int32(NoFunction): native.FUNCTION_NONE, int32(ReLU): native.FUNCTION_RELU,
			int32(Sigmoid): native.FUNCTION_SIGMOID, int32(Tanh): native.FUNCTION_TANH,
			int32(SiLU): native.FUNCTION_SILU, int32(GELU): native.FUNCTION_GELU,
			int32(GELUTanh): native.FUNCTION_GELU_TANH, int32(GELUQuick): native.FUNCTION_GELU_QUICK},
		{int32(AddSpecial): native.TOKENIZE_ADD_SPECIAL, int32(ParseSpecial): native.TOKENIZE_PARSE_SPECIAL},
		{int32(FullIsError): native.FULL_ERROR, int32(FullShifts): native.FULL_SHIFT},
		{int32(OtherDevice): native.DEVICE_OTHER, int32(CPU): native.DEVICE_CPU,
			int32(DiscreteGPU): native.DEVICE_GPU_DISCRETE, int32(IntegratedGPU): native.DEVICE_GPU_INTEGRATED,
			int32(Accelerator): native.DEVICE_ACCELERATOR, int32(SoftwareDevice): native.DEVICE_SOFTWARE},
	} {
		for ours, theirs := range more {
			if int(ours) != theirs {
				t.Errorf("%d is %d in the headers", ours, theirs)
			}
		}
	}
}
