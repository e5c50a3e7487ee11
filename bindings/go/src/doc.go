// Package runcible runs language models in your program.
//
//	model, err := runcible.LoadModel(ctx, "builtin:fable", nil, runcible.ModelOptions{})
//	session, err := model.NewSession(runcible.SessionOptions{})
//	generation, err := session.Generate(ctx, "Once upon a time", runcible.MaxTokens(100))
//	for piece := range generation.Pieces() {
//		fmt.Print(piece.Text)
//	}
//
// Every object may be used by any goroutine. Errors are of type *Error; compare
// them with a Status by errors.Is. Comments call the objects of this package
// handles, and generations requests.
package runcible
