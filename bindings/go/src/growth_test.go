package runcible_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"runcible"
)

// resident returns the memory of the process in bytes, after free memory was
// returned to the system.
func resident(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	check(t, err)
	var size, pages int
	_, err = fmt.Sscan(string(statm), &size, &pages)
	check(t, err)
	return pages * os.Getpagesize()
}

// Generations leak no memory, in Go or in C.
func TestMemoryDoesNotGrow(t *testing.T) {
	model := theModel(t)
	generate := func(count int) {
		for i := 0; i < count; i++ {
			session := sessionOf(t, model)
			generation, err := session.Generate(background, "A", runcible.MaxTokens(1),
				runcible.Stop("x"), runcible.LogitBias(5, -1))
			check(t, err)
			_, err = generation.Text()
			check(t, err)
			check(t, generation.Close())
			check(t, session.Close())
		}
	}
	generate(2000)
	// A leak grows in every round. The allocator grows in steps, and for longer with
	// many threads.
	var grown []int
	for i := 0; i < 16; i++ {
		before := resident(t)
		generate(2000)
		grown = append(grown, resident(t)-before)
		if grown[i] < 1<<20 {
			return
		}
	}
	t.Errorf("memory grew by %v bytes", grown)
}
