package native

/*
#include "values.h"
*/
import "C"

import "unsafe"

// NewError makes the error of a status; set by package runcible. The time after
// which to try again is in milliseconds, -1 if it is not known.
var NewError func(status int32, message string, retryAfter int64) error

// failure makes an error from the result of a wrapper: nil if it succeeded.
func failure(returned *byte) error {
	if returned == nil {
		return nil
	}
	failed := (*C.runcible_failure)(unsafe.Pointer(returned))
	defer C.runcible_failure_free(failed)
	return NewError(int32(failed.status), C.GoString(&failed.message[0]), int64(failed.retry_after))
}
