package runcible

import (
	"context"
	"time"

	"runcible/internal/native"
)

// Pooling is the way in which the hidden rows of a text's tokens become one row.
type Pooling int32

const (
	// PoolingAuto uses the pooling that the model's file names.
	PoolingAuto Pooling = iota
	// PoolingMean takes the mean of the rows.
	PoolingMean
	// PoolingFirst takes the row of the first token, such as [CLS].
	PoolingFirst
	// PoolingLast takes the row of the last token.
	PoolingLast
)

// EmbedOptions describe embeddings. The zero value has the defaults of the
// model's file.
type EmbedOptions struct {
	Pooling Pooling
	// Whether rows have the length 1; nil: as the model's file says, or true.
	Normalize *bool
	// Keeps only the first numbers of each row; 0: all.
	Dimensions int64
	// Truncates texts that are too long. Without it they give ErrContextFull.
	Truncate bool
	// Put before each text. Without Prompt, PromptName ("query" or "document") names
	// one of the model's prompts.
	Prompt, PromptName string
	Priority           int32
	// 0: none.
	Deadline time.Duration
}

// RerankOptions of the zero value are the defaults of the library.
type RerankOptions struct {
	// Returns the logits of the model instead of probabilities.
	RawScores bool
	// Truncates documents that are too long.
	Truncate bool
	// The question for a model that generates text, with {query} and {document}; "":
	// the one in its file.
	Prompt   string
	Priority int32
	// 0: none.
	Deadline time.Duration
}

// Embed makes embeddings of texts, one row for each. Models that generate text
// support it if they were loaded with the output of hidden rows. If the context
// is done, the call is cancelled.
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

// Rerank returns how well each document answers the query: probabilities in the
// order of the documents. Models that generate text support it if they were
// loaded with the output of scores. If the context is done, the call is
// cancelled.
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

// rows begins with the texts, waits for the end, and copies the rows.
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
		_ = native.Embedding_cancel(embedding) // it fails only for an invalid handle
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

// makeOptionalName returns no name for "".
func makeOptionalName(what, text string) (native.Name, error) {
	if text == "" {
		return "", nil
	}
	return makeName(what, text)
}
