package runcible_test

import (
	"errors"
	"testing"

	"runcible"
)

func TestSwitchMovesTheBackend(t *testing.T) {
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	defer backend.Close()
	model, err := runcible.LoadModel(background, "builtin:fable", backend, runcible.ModelOptions{})
	check(t, err)
	defer model.Close()
	on := func(want string) {
		t.Helper()
		device, err := backend.Device()
		check(t, err)
		if device.Backend != want {
			t.Errorf("on %s", device.Backend)
		}
	}

	calls := 0
	check(t, backend.Switch(background, "reference", runcible.BackendSwitchOptions{
		Progress: func(float64) error { calls++; return nil }}))
	if calls == 0 {
		t.Error("no progress was reported")
	}
	on("reference")
	mine := errors.New("mine")
	if err := backend.Switch(background, "cpu", runcible.BackendSwitchOptions{
		Progress: func(float64) error { return mine }}); err != mine {
		t.Error(err)
	}
	on("reference")
}
