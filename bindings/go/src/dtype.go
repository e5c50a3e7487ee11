package runcible

import (
	"fmt"
)

// String returns the name in lower case, "q4_k".
func (d DType) String() string {
	if name, ok := dtypeNames[d]; ok {
		return name
	}
	return fmt.Sprintf("DType(%d)", int32(d))
}

// ParseDType returns the type with a name in lower case.
func ParseDType(name string) (DType, error) {
	for dtype, known := range dtypeNames {
		if known == name {
			return dtype, nil
		}
	}
	return 0, newError(ErrInvalidArgument, fmt.Sprintf("there is no dtype %q", name))
}
