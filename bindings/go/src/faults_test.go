package runcible_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"runcible"
)

func TestInvalidArgumentsReturnErrInvalidArgument(t *testing.T) {
	model := theModel(t)
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	generate := func(options ...runcible.GenerateOption) error {
		_, err := sessionOf(t, model).Generate(background, "A", options...)
		return err
	}
	load := func(options runcible.ModelOptions) error {
		_, err := runcible.LoadModel(background, "builtin:fable", backend, options)
		return err
	}
	none := runcible.DType(1000)
	for name, wrong := range map[string]func() error{
		"a zero in a spec": func() error {
			_, err := runcible.OpenBackend("cp\x00u", runcible.BackendOptions{})
			return err
		},
		"a zero in a path": func() error {
			_, err := runcible.LoadModel(background, "builtin:fa\x00ble", backend, runcible.ModelOptions{})
			return err
		},
		"a zero in a stop string": func() error { return generate(runcible.Stop("a\x00b")) },
		"not a number": func() error {
			return generate(runcible.TopP(float32(math.NaN())))
		},
		"a token that does not exist":           func() error { return generate(runcible.PromptTokens([]int32{-1})) },
		"a bias of a token that does not exist": func() error { return generate(runcible.LogitBias(1<<30, 1)) },
		"a cache of another type":               func() error { return load(runcible.ModelOptions{CacheDType: &none}) },
		"a nil backend": func() error {
			_, err := runcible.PlanModel("builtin:fable", nil, runcible.ModelOptions{})
			return err
		},
		"a nil model":   func() error { _, err := sessionOf(t, model).Migrate(nil); return err },
		"a nil operand": func() error { x, _ := runcible.Ones(backend, runcible.F32, 2); _, err := x.Add(nil); return err },
		"a shape of no dimension": func() error {
			_, err := runcible.Zeros(backend, runcible.F32)
			return err
		},
		"a shape of five dimensions": func() error {
			_, err := runcible.Zeros(backend, runcible.F32, 1, 1, 1, 1, 1)
			return err
		},
	} {
		if err := wrong(); !errors.Is(err, runcible.ErrInvalidArgument) || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidUTF8SurvivesTokenizing(t *testing.T) {
	model := theModel(t)
	tokens, err := model.Tokenize("a\xffb", 0)
	check(t, err)
	text, err := model.Detokenize(tokens, false)
	check(t, err)
	if text != "a\xffb" {
		t.Errorf("%q", text)
	}
}

func TestZeroHandlesAreClosed(t *testing.T) {
	for name, use := range map[string]func() error{
		"zero session": new(runcible.Session).Decode,
		"zero model":   func() error { _, err := new(runcible.Model).Report(); return err },
		"zero tensor":  func() error { _, err := new(runcible.Tensor).Shape(); return err },
		"zero tenant": func() error {
			_, err := runcible.OpenBackend("cpu", runcible.BackendOptions{Tenant: new(runcible.Tenant)})
			return err
		},
	} {
		if err := use(); !errors.Is(err, runcible.ErrClosed) || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, new(runcible.Session).Close())
	generation := endless(t, background, sessionOf(t, theModel(t)))
	check(t, generation.Close())
	check(t, generation.Close())
	generation.Cancel()
}

// things returns objects that need each other.
func things(t *testing.T) []interface{ Close() error } {
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	model, err := runcible.LoadModel(background, "builtin:fable", backend, runcible.ModelOptions{})
	check(t, err)
	session := sessionOf(t, model)
	fork, err := session.Fork()
	check(t, err)
	tokenizer, err := model.Tokenizer()
	check(t, err)
	return []interface{ Close() error }{backend, model, session, fork, tokenizer, endless(t, background, session)}
}

func TestHandlesAreCollectedInAnyOrder(t *testing.T) {
	for i := 0; i < 6; i++ {
		things(t)
		runtime.GC()
	}
	runtime.GC()
}

func TestClosingWhileAnotherGoroutineUses(t *testing.T) {
	session := sessionOf(t, theModel(t))
	begun, done := make(chan bool), make(chan error)
	go func() {
		close(begun)
		for {
			if err := session.Append([]int32{5}); err != nil {
				done <- err
				return
			}
			_ = session.Decode()
			_ = session.Truncate(0)
		}
	}()
	<-begun
	check(t, session.Close())
	if err := <-done; !errors.Is(err, runcible.ErrClosed) {
		t.Error(err)
	}
}

func TestLogitsWhileAnotherGoroutineDecodes(t *testing.T) {
	session := sessionOf(t, theModel(t))
	check(t, session.Append([]int32{5, 6, 7}))
	check(t, session.DecodeAll())
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		for i := 0; i < 50; i++ {
			_ = session.Append([]int32{int32(i)})
			_ = session.DecodeAll()
		}
	}()
	for i := 0; i < 200; i++ {
		rows, err := session.Logits()
		if err == nil && (len(rows) == 0 || len(rows[0]) != 2048) ||
			err != nil && !errors.Is(err, runcible.ErrNotFound) {
			t.Fatal(len(rows), err)
		}
	}
	group.Wait()
}

func TestOpenBackendReportsProgress(t *testing.T) {
	calls := 0
	_, err := runcible.OpenBackend("reference", runcible.BackendOptions{
		Progress: func(float64) error { calls++; return nil }})
	check(t, err)
	if calls == 0 {
		t.Error("no progress was reported")
	}
	mine := errors.New("mine")
	_, err = runcible.OpenBackend("reference", runcible.BackendOptions{
		Progress: func(float64) error { return mine }})
	if err != mine {
		t.Error(err)
	}
}

func TestLoadModelReportsProgress(t *testing.T) {
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	load := func(ctx context.Context, progress func(float64) error) error {
		_, err := runcible.LoadModel(ctx, "builtin:fable", backend, runcible.ModelOptions{Progress: progress})
		return err
	}
	last := 0.0
	check(t, load(background, func(fraction float64) error {
		if fraction < last {
			t.Errorf("%v after %v", fraction, last)
		}
		last = fraction
		return nil
	}))
	if last != 1 {
		t.Errorf("ended at %v", last)
	}
	mine := errors.New("mine")
	if err := load(background, func(float64) error { return mine }); err != mine {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(background)
	err = load(ctx, func(float64) error { cancel(); return nil })
	if !errors.Is(err, runcible.ErrCancelled) {
		t.Error(err)
	}
	defer func() {
		if recover() != "mine" {
			t.Error("there was another panic, or none")
		}
	}()
	_ = load(background, func(float64) error { panic("mine") })
}

// TestMain runs a separate program for TestExitWithGenerationsInFlight.
func TestMain(m *testing.M) {
	way := os.Getenv("RUNCIBLE_TEST_EXIT")
	if way == "" {
		os.Exit(m.Run())
	}
	model, err := loadFable()
	if err != nil {
		panic(err)
	}
	for i := 0; i < 6; i++ {
		session, err := model.NewSession(runcible.SessionOptions{WhenFull: runcible.FullShifts})
		if err != nil {
			panic(err)
		}
		generation, err := session.Generate(background, "A", runcible.IgnoreEOS())
		if err != nil {
			panic(err)
		}
		<-generation.Pieces()
	}
	os.Stdout.WriteString("done")
	if way == "exit" {
		os.Exit(0)
	}
}

func TestExitWithGenerationsInFlight(t *testing.T) {
	for _, way := range []string{"exit", "return"} {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), "RUNCIBLE_TEST_EXIT="+way)
		output, err := program.CombinedOutput()
		if err != nil || string(output) != "done" {
			t.Errorf("%s: %v: %s", way, err, output)
		}
	}
}

func TestNumbersOfAnotherTypeAreRefused(t *testing.T) {
	x := must(runcible.NewTensor(cpu(t), []float64{1, 2}, 2))
	if _, err := runcible.Numbers[int8](x); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestDiscoverAndPlanModel(t *testing.T) {
	devices, _, err := runcible.Discover()
	check(t, err)
	found := false
	for _, device := range devices {
		found = found || device.ID == "cpu:0" && device.Cores > 0
	}
	if !found {
		t.Errorf("%+v", devices)
	}
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	plan, err := runcible.PlanModel("builtin:fable", backend, runcible.ModelOptions{})
	check(t, err)
	if plan.Total != plan.Weights+plan.Cache+plan.Scratch {
		t.Errorf("%+v", plan)
	}
	if err := runcible.Verify("/nosuchfile"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestIOErrorsMatchTheErrno(t *testing.T) {
	loop := t.TempDir() + "/loop.gguf"
	check(t, os.Symlink(loop, loop))
	err := runcible.Verify(loop)
	var number syscall.Errno
	if !errors.Is(err, runcible.ErrIO) || !errors.Is(err, syscall.ELOOP) ||
		!errors.As(err, &number) || number != syscall.ELOOP || errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if err := runcible.Verify(loop + ".none"); !errors.Is(err, syscall.ENOENT) || errors.As(err, &number) {
		t.Error(err)
	}
}
