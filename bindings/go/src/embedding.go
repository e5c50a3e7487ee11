package runcible

import (
	"context"
	"time"

	"runcible/internal/native"
)

// Pooling is how the hidden rows of a text's tokens become one row.
type Pooling int32

const (
	// PoolingAuto is what the model's file says.
	PoolingAuto Pooling = iota
	// PoolingMean is their mean.
	PoolingMean
	// PoolingFirst is that of the first token, such as [CLS].
	PoolingFirst
	// PoolingLast is that of the last token.
	PoolingLast
)

// EmbedOptions of the zero value are what the model's file says.
type EmbedOptions struct {
	Pooling Pooling
	// Whether rows have the length 1; nil: as the file says, or true.
	Normalize *bool
	// The first so many numbers of each row; 0: all.
	Dimensions int64
	// Takes the beginning of texts that are too long, which else give
	// ErrContextFull.
	Truncate bool
	// Put before each text. Else PromptName, "query" or "document", is that of
	// the prompts of the model.
	Prompt, PromptName string
	Priority           int32
	// 0: none.
	Deadline time.Duration
}

// RerankOptions of the zero value are the defaults of the library.
type RerankOptions struct {
	// Gives what the model does, a logit, instead of a probability.
	RawScores bool
	// Takes the beginning of documents that are too long.
	Truncate bool
	// What a model that generates text is asked, with {query} and {document};
	// "": what its file says.
	Prompt   string
	Priority int32
	// 0: none.
	Deadline time.Duration
}

// Embed makes embeddings of texts, one row for each. Models that generate text
// give them if they were loaded with the output of hidden rows. A context that is
// done cancels it.
func (m *Model) Embed(ctx context.Context, texts []string, options EmbedOptions) ([][]float32, error) {
	prompt, err := makeOptionalName("the prompt", options.Prompt)
	if err != nil {
		return nil, err
	}
	promptName, err := makeOptionalName("the name of the prompt", options.PromptName)
	if err != nil {
		return nil, err
	}
	normalize := int32(-1)
	if options.Normalize != nil {
		normalize = flag(*options.Normalize)
	}
	return m.rows(ctx, texts, func(model native.Model, list native.Text_list, made *uintptr) error {
		return native.Model_embed(model, list, int32(options.Pooling), normalize,
			options.Dimensions, flag(options.Truncate), prompt, promptName,
			options.Priority, milliseconds(options.Deadline), made)
	})
}

// Rerank tells how well each document answers the query: probabilities in their
// order. Models that generate text are loaded with the output of scores for it. A
// context that is done cancels it.
func (m *Model) Rerank(ctx context.Context, query string, documents []string, options RerankOptions) ([]float32, error) {
	name, err := makeName("the query", query)
	if err != nil {
		return nil, err
	}
	prompt, err := makeOptionalName("the prompt", options.Prompt)
	if err != nil {
		return nil, err
	}
	rows, err := m.rows(ctx, documents, func(model native.Model, list native.Text_list, made *uintptr) error {
		return native.Model_rerank(model, name, list, flag(options.RawScores),
			flag(options.Truncate), prompt, options.Priority,
			milliseconds(options.Deadline), made)
	})
	scores := make([]float32, len(rows))
	for i, row := range rows {
		scores[i] = row[0]
	}
	return scores, err
}

// rows begins with the texts, waits, and copies what was made.
func (m *Model) rows(ctx context.Context, texts []string, begin func(native.Model, native.Text_list, *uintptr) error) ([][]float32, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	model, err := m.use()
	if err != nil {
		return nil, err
	}
	defer m.handle.done()
	list := native.NewText_list()
	if err := made(list); err != nil {
		return nil, err
	}
	defer native.DeleteText_list(list)
	for _, text := range texts {
		name, err := makeName("a text", text)
		if err != nil {
			return nil, err
		}
		if err := list.Add(name); err != nil {
			return nil, err
		}
	}
	var pointer uintptr
	if err := begin(model, list, &pointer); err != nil {
		return nil, err
	}
	embedding := native.SwigcptrEmbedding(pointer)
	end := cancelWhenDone(ctx, func() {
		_ = native.Embedding_cancel(embedding) // an error would say that it is none
	})
	defer func() {
		end()
		native.DeleteEmbedding(embedding)
	}()
	if err := native.Embedding_wait(embedding, -1); err != nil {
		if cause := contextError(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	var floats native.Floats
	if err := native.Embedding_rows(embedding, &floats); err != nil {
		return nil, err
	}
	return floats.Rows(), nil
}

// makeOptionalName makes no name of no text.
func makeOptionalName(what, text string) (native.Name, error) {
	if text == "" {
		return "", nil
	}
	return makeName(what, text)
}
