package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/csv"
	"github.com/clinkctl/clinkctl/format/lines"
	"github.com/clinkctl/clinkctl/format/ndjson"
	"github.com/clinkctl/clinkctl/format/parquet"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/source/files"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
	"github.com/clinkctl/clinkctl/stage/hdfs"
	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/webhdfs"
)

// Wiring is what a binary is made of: the only list of backends, formats and stores. It is a pipeline.Catalog.
type Wiring struct {
	FS       vfs.FS    // of the state directory
	Random   io.Reader // cryptographic
	Backends []stage.Backend
	Beat     time.Duration // of a state in a store of objects; 0 is its own
	Formats  []format.Kind
}

var _ pipeline.Catalog = Wiring{}

// Production is the wiring of the product.
func Production() Wiring {
	fsys := vfs.OS()
	return Wiring{
		FS:     fsys,
		Random: rand.Reader,
		Backends: []stage.Backend{
			file.Backend(fsys, rand.Reader),
			s3.Backend(s3.Env{Random: rand.Reader, Now: time.Now, Sleep: sleep}),
			hdfs.Backend(hdfs.Env{Random: rand.Reader, Sleep: sleep}),
			webhdfs.Backend(webhdfs.Env{Random: rand.Reader, Sleep: sleep}),
		},
		Formats: []format.Kind{csv.Kind(), ndjson.Kind(), parquet.Kind(), lines.Kind()},
	}
}

// Backend finds the backend of a destination by its scheme.
func (w Wiring) Backend(to string) (stage.Backend, error) {
	scheme, _, ok := strings.Cut(to, "://")
	if !ok {
		scheme = ""
	}
	i := slices.IndexFunc(w.Backends, func(b stage.Backend) bool { return b.Scheme == scheme })
	if i < 0 {
		return stage.Backend{}, fmt.Errorf("there is no backend for %s", to)
	}
	return w.Backends[i], nil
}

// stateSchemes names, for people, the addresses that a state can be kept at.
func (w Wiring) stateSchemes() string {
	text := ""
	for _, b := range w.Backends {
		if b.State != nil {
			text += ", " + b.Scheme + "://..."
		}
	}
	return text
}

// Format makes the format of a name.
func (w Wiring) Format(name string, options map[string]any) (format.Format, error) {
	i := slices.IndexFunc(w.Formats, func(k format.Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no format %q", name)
	}
	return w.Formats[i].New(options)
}

// Sources opens sources.
func (w Wiring) Sources() pipeline.Sources { return files.Sources{Stores: w.store, Formats: w.Format} }

// store opens the store that a source's files are read from.
func (w Wiring) store(ctx context.Context, at stage.Place) (stage.Store, error) {
	b, err := w.Backend(at.To)
	if err != nil {
		return nil, err
	}
	if b.Store == nil {
		return nil, fmt.Errorf("nothing can be read from %s", at.To)
	}
	return b.Store(ctx, at)
}
