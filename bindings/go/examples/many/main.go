// Many generates several stories at once while a ticker ticks. It stops when one
// story is done or two seconds have passed.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"runcible"
)

// generate sends the story to `lines`, and returns the error that ended it.
func generate(ctx context.Context, model *runcible.Model, prompt string, lines chan<- string) error {
	session, err := model.NewSession(runcible.SessionOptions{})
	if err != nil {
		return err
	}
	defer session.Close()
	generation, err := session.Generate(ctx, prompt, runcible.Echo())
	if err != nil {
		return err
	}
	text, err := generation.Text()
	lines <- fmt.Sprintf("%d tokens: %s", generation.Report().GeneratedTokens, text)
	return err
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	model, err := runcible.LoadModel(ctx, "builtin:fable", nil, runcible.ModelOptions{})
	if err != nil {
		log.Fatal(err)
	}
	prompts := []string{"A fox", "A goose", "A hare", "An old king"}
	lines := make(chan string)
	ends := make(chan error)
	for _, prompt := range prompts {
		go func(prompt string) { ends <- generate(ctx, model, prompt, lines) }(prompt)
	}
	ticker := time.NewTicker(time.Millisecond)
	ticks := 0
	for left := len(prompts); left > 0; {
		select {
		case <-ticker.C:
			ticks++
		case line := <-lines:
			fmt.Println(line)
		case err := <-ends:
			left--
			cancel() // the others
			switch {
			case err == nil:
				fmt.Println("-- one was done")
			case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
				fmt.Println("-- one was interrupted")
			default:
				log.Fatal(err)
			}
		}
	}
	fmt.Println("ticks:", ticks)
}
