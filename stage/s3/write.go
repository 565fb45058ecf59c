package s3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Metadata of what is ours. Names of a user's own metadata do not begin like this.
const (
	metaPrefix   = "clinkctl-"
	metaToken    = metaPrefix + "token"
	metaRun      = metaPrefix + "run"
	metaArtifact = metaPrefix + "artifact"
)

var errEnded = errors.New("the writer has ended")

// Create begins to stage an artifact. Nothing is sent before its first part is full, or Prepare.
func (s *sink) Create(ctx context.Context, a runstate.Artifact) (stage.ByteWriter, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if _, err := parseName(a.Name()); err != nil {
		return nil, err
	}
	if a.Attempt < 1 {
		return nil, fmt.Errorf("artifact %s has no attempt", a.Name())
	}
	w := &writer{sink: s, artifact: a, key: s.at.key(a.Name()), whole: s.checksum.new()}
	if !s.checksum.whole() {
		w.whole = nil
	}
	if w.token, err = s.token(); err != nil {
		return nil, err
	}
	s.touch(w.key)
	// Parts travel beyond the call that filled them, and end with the context that the artifact was begun in.
	w.group, w.ctx = errgroup.WithContext(ctx)
	return w, nil
}

// writer stages one artifact: a part is sent when it is full, while the next one fills.
type writer struct {
	sink     *sink
	artifact runstate.Artifact
	key      string
	token    string
	upload   string // "" until created

	group *errgroup.Group
	ctx   context.Context // ends with the group's first error
	full  []byte          // the part that is being filled
	size  int64
	whole hash.Hash // of all bytes; nil where the sum is made of the parts'
	tail  tail
	ended bool

	mu    sync.Mutex
	parts []part // acknowledged, in any order
	sent  int32
}

var (
	_ stage.ByteWriter = (*writer)(nil)
	_ stage.ReadBack   = (*writer)(nil)
)

func (w *writer) Write(p []byte) (int, error) {
	leave, err := w.sink.enter(context.Background()) // io.Writer has no context; sending a part has its own
	if err != nil {
		return 0, err
	}
	leave() // a part waits for its turn: a close must not wait for that
	if w.ended {
		return 0, fmt.Errorf("%s: %w", w.key, errEnded)
	}
	n := 0
	for n < len(p) {
		if err := w.room(); err != nil {
			return n, err
		}
		k := min(len(p)-n, cap(w.full)-len(w.full))
		w.full = append(w.full, p[n:n+k]...)
		n += k
	}
	w.size += int64(n)
	if w.whole != nil {
		_, _ = w.whole.Write(p) // cannot fail
	}
	return n, nil
}

// room makes sure that the part at hand can take bytes.
func (w *writer) room() error {
	if w.full != nil && len(w.full) < cap(w.full) {
		return nil
	}
	if w.full != nil {
		if err := w.send(); err != nil {
			return err
		}
	}
	w.full = w.sink.client.buffers.get()
	return nil
}

// send lets the part at hand travel. It waits until fewer than so many are on their way.
func (w *writer) send() error {
	if err := w.create(); err != nil {
		return err
	}
	if w.sent++; w.sent > maxParts {
		return fmt.Errorf("%s has more than %d parts of %d bytes: set a larger part_size, or smaller checkpoints", w.key, maxParts, cap(w.full))
	}
	number, data := w.sent, w.full
	w.full = nil
	select {
	case w.sink.sending <- struct{}{}:
	case <-w.ctx.Done():
		w.sink.client.buffers.put(data)
		return context.Cause(w.ctx)
	}
	kept := w.tail.keep(data, w.sink.client.buffers)
	w.group.Go(func() error {
		defer func() { <-w.sink.sending }()
		defer w.tail.sent(kept, w.sink.client.buffers)
		return w.put(number, data)
	})
	return nil
}

// create begins the upload, once.
func (w *writer) create() error {
	if w.upload != "" {
		return nil
	}
	s := w.sink
	in := &s3.CreateMultipartUploadInput{Bucket: aws.String(s.at.bucket), Key: aws.String(w.key), ChecksumAlgorithm: s.checksum.algorithm(), ChecksumType: s.checksum.kind()}
	s.client.dress(in, w.artifact, w.token)
	out, err := s.client.CreateMultipartUpload(w.ctx, in)
	if err != nil {
		return wrap(err, "create the upload of %s", w.key)
	}
	if w.upload = aws.ToString(out.UploadId); w.upload == "" {
		return fmt.Errorf("create the upload of %s: the store has given it no id", w.key)
	}
	return nil
}

// dress puts on an upload what its object is to carry. Whatever depends on the artifact's size is not known yet.
func (c *client) dress(in *s3.CreateMultipartUploadInput, a runstate.Artifact, token string) {
	in.Metadata = map[string]string{}
	for k, v := range c.metadata {
		in.Metadata[k] = v
	}
	in.Metadata[metaToken], in.Metadata[metaRun], in.Metadata[metaArtifact] = token, string(a.Run), a.Name()
	in.ContentType = aws.String(contentType(c.contentType, a.Ext))
	in.ContentEncoding, in.CacheControl = optional(c.contentEncoding), optional(c.cacheControl)
	in.StorageClass, in.ACL = types.StorageClass(c.class), types.ObjectCannedACL(c.acl)
	in.ServerSideEncryption, in.SSEKMSKeyId = types.ServerSideEncryption(c.sse), optional(c.kmsKey)
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	in.RequestPayer, in.ExpectedBucketOwner = c.payer(), optional(c.owner)
	if len(c.tags) > 0 {
		tags := url.Values{}
		for k, v := range c.tags {
			tags.Set(k, v)
		}
		in.Tagging = aws.String(tags.Encode())
	}
}

// put sends a part.
func (w *writer) put(number int32, data []byte) error {
	s, c := w.sink, w.sink.client
	p := part{Number: number, Size: int64(len(data))}
	in := &s3.UploadPartInput{Bucket: aws.String(s.at.bucket), Key: aws.String(w.key), UploadId: aws.String(w.upload), PartNumber: aws.Int32(number),
		Body: bytes.NewReader(data), ContentLength: aws.Int64(p.Size), RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	if h := s.checksum.new(); h != nil {
		_, _ = h.Write(data) // cannot fail
		p.Sum = encode(h)
		s.checksum.onPart(in, p.Sum)
	}
	out, err := c.UploadPart(w.ctx, in, c.unsigned)
	if err != nil {
		return wrap(err, "send part %d of %s", number, w.key)
	}
	if p.ETag = aws.ToString(out.ETag); p.ETag == "" {
		return fmt.Errorf("send part %d of %s: the store has not said what it has got (no ETag)", number, w.key)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = append(w.parts, p)
	return nil
}

// Prepare sends the last part, which may be shorter than the others, and waits until the store has them all.
func (w *writer) Prepare(ctx context.Context, rows int64, digest string) (runstate.Handle, error) {
	leave, err := w.sink.enter(ctx)
	if err != nil {
		return runstate.Handle{}, err
	}
	leave()
	if w.ended {
		return runstate.Handle{}, fmt.Errorf("%s: %w", w.key, errEnded)
	}
	if len(w.full) > 0 || w.sent == 0 { // an object without bytes has one part without any
		if err := w.send(); err != nil {
			return runstate.Handle{}, errors.Join(err, w.wait())
		}
	}
	if err := w.wait(); err != nil {
		return runstate.Handle{}, err
	}
	w.ended = true
	w.tail.drop(w.sink.client.buffers)
	return w.handle(rows, digest)
}

// wait waits for the parts that are on their way.
func (w *writer) wait() error { return w.group.Wait() }

func (w *writer) handle(rows int64, digest string) (runstate.Handle, error) {
	s, a := w.sink, w.artifact
	slices.SortFunc(w.parts, func(a, b part) int { return int(a.Number - b.Number) })
	p := payload{ID: s.id, Bucket: s.at.bucket, Key: w.key, Upload: w.upload, Token: w.token, Checksum: s.checksum, Parts: w.parts}
	var err error
	switch {
	case w.whole != nil:
		p.Sum = encode(w.whole)
	case s.checksum != noChecksum:
		p.Sum, err = s.checksum.composite(p.Parts)
	}
	if err != nil {
		return runstate.Handle{}, err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return runstate.Handle{}, err
	}
	return runstate.Handle{Name: a.Name(), Sink: a.Sink, Attempt: a.Attempt, Subtask: a.Subtask, Checkpoint: a.Checkpoint,
		Place: s.at.String(), Rows: rows, Bytes: w.size, Digest: digest, Backend: scheme, Payload: data}, nil
}

// Discard throws the upload away. It has no handle, so that nobody will complete it.
func (w *writer) Discard(ctx context.Context) error {
	if w.ended {
		return fmt.Errorf("%s: %w", w.key, errEnded)
	}
	w.ended = true
	w.group.Go(func() error { return errEnded }) // ends the context of what is on its way
	_ = w.wait()                                 // why it failed does not matter any more
	w.tail.drop(w.sink.client.buffers)
	w.full = w.sink.client.buffers.put(w.full)
	leave, err := w.sink.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if w.upload == "" {
		return nil
	}
	return w.sink.abortUpload(ctx, w.key, w.upload)
}

// ReadBack shows the first bytes and the last parts of what was written, until Prepare or Discard. What is between them is
// at the store and cannot be read: errors.ErrUnsupported.
func (w *writer) ReadBack() (io.ReaderAt, int64, error) {
	if w.ended {
		return nil, 0, fmt.Errorf("%s: %w", w.key, errEnded)
	}
	return &readBack{tail: &w.tail, last: w.full, size: w.size}, w.size, nil
}
