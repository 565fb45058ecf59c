package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/ranged"
)

// store is object stores as a place to read from. Paths are addresses, s3://bucket/key.
type store struct {
	env    Env
	client *client
}

var _ stage.Store = (*store)(nil)

func openStore(ctx context.Context, env Env, at stage.Place) (*store, error) {
	set, err := settingsOf(at)
	if err != nil {
		return nil, err
	}
	c, err := newClient(ctx, set, env.Around)
	if err != nil {
		return nil, err
	}
	return &store{env, c}, nil
}

// wildcards are the characters that make an element of a key a pattern.
const wildcards = `*?[\`

// cut takes an address of an object or a pattern apart.
func cut(at string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(at, scheme+"://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || !bucketName.MatchString(bucket) || key == "" {
		return "", "", fmt.Errorf("%q names no object: write s3://bucket/key", at)
	}
	return bucket, key, nil
}

// List gives the objects that a pattern matches. One whose very key is the pattern is that object.
func (s *store) List(ctx context.Context, pattern string) ([]string, error) {
	bucket, key, err := cut(pattern)
	if err == nil {
		_, err = path.Match(key, "")
	}
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", pattern, err)
	}
	_, err = s.Stat(ctx, pattern)
	if err == nil {
		return []string{pattern}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(key, wildcards) {
		return nil, fmt.Errorf("source %s: %w", pattern, err)
	}
	c := s.client
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: aws.String(key[:strings.IndexAny(key, wildcards)]),
		RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)})
	var found []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, wrap(err, "source %s: list the bucket", pattern)
		}
		for _, o := range page.Contents {
			if matches(key, aws.ToString(o.Key)) {
				found = append(found, scheme+"://"+bucket+"/"+aws.ToString(o.Key))
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("source %s: %w", pattern, fs.ErrNotExist)
	}
	slices.Sort(found)
	return found, nil
}

// matches compares a pattern, which is known to be good, with a key, element by element. Elements that begin with a dot or an
// underscore match no wildcard: readers of folders take them for hidden.
func matches(pattern, key string) bool {
	patterns, elements := strings.Split(pattern, "/"), strings.Split(key, "/")
	if len(patterns) != len(elements) {
		return false
	}
	for i, p := range patterns {
		e := elements[i]
		if strings.ContainsAny(p, wildcards) && (e == "" || e[0] == '.' || e[0] == '_') {
			return false
		}
		if ok, _ := path.Match(p, e); !ok {
			return false
		}
	}
	return true
}

// Stat describes an object. Its version is its ETag: a put of the same key makes another one.
func (s *store) Stat(ctx context.Context, at string) (stage.Object, error) {
	bucket, key, err := cut(at)
	if err != nil {
		return stage.Object{}, err
	}
	c := s.client
	in := &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	out, err := c.HeadObject(ctx, in)
	if isAbsent(err) {
		return stage.Object{}, &fs.PathError{Op: "stat", Path: at, Err: fs.ErrNotExist}
	}
	if err != nil {
		return stage.Object{}, wrap(err, "look at %s", at)
	}
	if aws.ToString(out.ETag) == "" {
		return stage.Object{}, fmt.Errorf("%s: the store shows no ETag, so that a change could not be noticed", at)
	}
	return stage.Object{Path: at, Size: aws.ToInt64(out.ContentLength), ModTime: aws.ToTime(out.LastModified).UTC(), Version: aws.ToString(out.ETag)}, nil
}

// Fingerprint is Stat: an ETag tells more than any block does.
func (s *store) Fingerprint(ctx context.Context, at string) (stage.Object, error) {
	return s.Stat(ctx, at)
}

// Open reads an object from an offset to its end. Every request asks for the version. The reader is an io.ReaderAt, too, with
// positions in the whole object: nothing is asked for but what is read.
func (s *store) Open(ctx context.Context, at, version string, offset int64) (io.ReadCloser, error) {
	is, err := s.Stat(ctx, at)
	if err != nil {
		return nil, err
	}
	if version != "" && is.Version != version {
		return nil, fmt.Errorf("%s: %w", at, stage.ErrChanged)
	}
	return ranged.New(ctx, ranged.Source{Name: at, Tries: s.client.retries, Sleep: s.env.Sleep,
		Get: func(ctx context.Context, from, to int64) (io.ReadCloser, error) {
			return s.get(ctx, at, is.Version, from, to)
		},
	}, offset, offset >= is.Size), nil
}

// get asks for bytes [from, to) of an object, to its end where to is negative.
func (s *store) get(ctx context.Context, at, version string, from, to int64) (io.ReadCloser, error) {
	bucket, key, err := cut(at)
	if err != nil {
		return nil, err
	}
	c := s.client
	in := &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), IfMatch: optional(version), RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	switch {
	case to >= 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", from, to-1))
	case from > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	out, err := c.GetObject(ctx, in)
	switch {
	case err == nil:
		return &body{from: out.Body, cancel: cancel, idle: c.timeout, timer: time.AfterFunc(c.timeout, func() { cancel(errStalled) })}, nil
	case isAbsent(err):
		err = &fs.PathError{Op: "get", Path: at, Err: fs.ErrNotExist}
	case isTaken(err):
		err = fmt.Errorf("%s: %w", at, stage.ErrChanged)
	case isCode(err, "InvalidRange"):
		err = ranged.ErrPastEnd
	default:
		err = wrap(err, "get %s", at)
	}
	cancel(nil)
	return nil, err
}

var errStalled = errors.New("no byte came for too long")

// body is an answer's body that ends when no byte comes for too long.
type body struct {
	from   io.ReadCloser
	cancel context.CancelCauseFunc
	idle   time.Duration
	timer  *time.Timer
}

func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(b.idle)
	return b.from.Read(p)
}

func (b *body) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.from.Close()
}
