// Hello loads a model, generates a text and prints it.
//
//	hello [MODEL.gguf [PROMPT]]
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"runcible"
)

func main() {
	path, prompt := "builtin:fable", ""
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if len(os.Args) > 2 {
		prompt = os.Args[2]
	}
	ctx := context.Background()
	model, err := runcible.LoadModel(ctx, path, nil, runcible.ModelOptions{})
	if err != nil {
		log.Fatal(err)
	}
	session, err := model.NewSession(runcible.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	// Without the seed every run generates a different story.
	generation, err := session.Generate(ctx, prompt,
		runcible.Echo(), runcible.MaxTokens(300), runcible.Seed(1))
	if err != nil {
		log.Fatal(err)
	}
	for piece := range generation.Pieces() {
		fmt.Print(piece.Text)
	}
	fmt.Println()
	if err := generation.Err(); err != nil {
		log.Fatal(err)
	}
}
