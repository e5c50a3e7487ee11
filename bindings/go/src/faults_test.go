package runcible_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"math/rand"
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
		"an empty stop string":    func() error { return generate(runcible.Stop("")) },
		"a negative temperature":  func() error { return generate(runcible.Temperature(-1)) },
		"not a number": func() error {
			return generate(runcible.TopP(float32(math.NaN())))
		},
		"too many logprobs":                     func() error { return generate(runcible.Logprobs(65)) },
		"a token that does not exist":           func() error { return generate(runcible.PromptTokens([]int32{-1})) },
		"a bias of a token that does not exist": func() error { return generate(runcible.LogitBias(1<<30, 1)) },
		"a negative context":                    func() error { return load(runcible.ModelOptions{ContextLength: -1}) },
		"a cache of another type":               func() error { return load(runcible.ModelOptions{CacheDType: &none}) },
		"negative threads": func() error {
			_, err := runcible.OpenBackend("cpu", runcible.BackendOptions{Threads: -1})
			return err
		},
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
		"too few numbers": func() error {
			_, err := runcible.NewTensor(backend, []float32{1}, 2)
			return err
		},
		"truncating beyond the end": func() error { return sessionOf(t, model).Truncate(5) },
		"decoding nothing":          func() error { return sessionOf(t, model).Decode() },
		"a token outside":           func() error { _, err := model.Detokenize([]int32{1 << 30}, false); return err },
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

func TestClosedHandlesReturnErrClosed(t *testing.T) {
	model := theModel(t)
	session := sessionOf(t, model)
	generation, err := session.Generate(background, "A", runcible.MaxTokens(5))
	check(t, err)
	check(t, session.Close())
	check(t, session.Close())
	text, err := generation.Text() // the generation in progress goes on
	if err != nil || text == "" {
		t.Errorf("%q, %v", text, err)
	}
	check(t, generation.Close())
	check(t, generation.Close())
	generation.Cancel()
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	tensor, err := runcible.Ones(backend, runcible.F32, 2)
	check(t, err)
	tokenizer, err := model.Tokenizer()
	check(t, err)
	check(t, tensor.Close())
	check(t, backend.Close())
	check(t, tokenizer.Close())
	for name, use := range map[string]func() error{
		"decode":       session.Decode,
		"fork":         func() error { _, err := session.Fork(); return err },
		"position":     func() error { _, err := session.Position(); return err },
		"generate":     func() error { _, err := session.Generate(background, "B"); return err },
		"read":         func() error { _, err := tensor.Bytes(); return err },
		"operand":      func() error { _, err := tensor.Add(tensor); return err },
		"open tensor":  func() error { _, err := runcible.Ones(backend, runcible.F32, 2); return err },
		"tokenize":     func() error { _, err := tokenizer.Tokenize("a", 0); return err },
		"zero session": new(runcible.Session).Decode,
		"zero model":   func() error { _, err := new(runcible.Model).Report(); return err },
		"zero tensor":  func() error { _, err := new(runcible.Tensor).Shape(); return err },
	} {
		if err := use(); !errors.Is(err, runcible.ErrClosed) || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, new(runcible.Session).Close())
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

func TestHandlesAreClosedInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for i := 0; i < 6; i++ {
		all := things(t)
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, each := range all {
			check(t, each.Close())
		}
	}
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

func TestTensorOpsGiveExpectedNumbers(t *testing.T) {
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	ids, err := runcible.NewTensor(backend, []int32{2, 0}, 2)
	check(t, err)
	table, err := runcible.NewTensor(backend, []float64{1, 2, 3, 4, 5, 6}, 3, 2)
	check(t, err)
	rows, err := table.GatherRows(ids)
	check(t, err)
	numbers, err := runcible.Numbers[float32](rows)
	check(t, err)
	check(t, same(numbers, []float32{5, 6, 1, 2}))
	if _, err := runcible.Numbers[int8](rows); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	weight, err := runcible.RandomNormal(backend, 1, 0, 1, 4, 32)
	check(t, err)
	small, err := weight.Quantize(runcible.Q8_0)
	check(t, err)
	about, err := runcible.Numbers[float32](small)
	check(t, err)
	exact, err := runcible.Numbers[float32](weight)
	check(t, err)
	for i := range exact {
		if math.Abs(float64(about[i]-exact[i])) > 0.05 {
			t.Fatalf("%v became %v", exact[i], about[i])
		}
	}
	normed, err := weight.RMSNorm(nil, 1e-5)
	check(t, err)
	sum, err := normed.Mul(normed)
	check(t, err)
	mean, err := sum.Mean(runcible.AllDimensions, false)
	check(t, err)
	if one, err := runcible.Numbers[float32](mean); err != nil || math.Abs(float64(one[0])-1) > 1e-3 {
		t.Error(one, err)
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
