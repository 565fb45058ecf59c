package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/clinkctl/clinkctl/stage"
)

// maxNote bounds what is read of a note, in bytes.
const maxNote = 1 << 30

// PutNote makes a note if its key is free.
func (s *sink) PutNote(ctx context.Context, name string, data []byte) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := stage.CheckNote(name, probePrefix); err != nil {
		return err
	}
	return s.put(ctx, name, data)
}

// Note reads a note.
func (s *sink) Note(ctx context.Context, name string) ([]byte, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := stage.CheckNote(name, probePrefix); err != nil {
		return nil, err
	}
	return s.get(ctx, name)
}

// put makes an object if its key is free: fs.ErrExist if it is not. Whether a put that was not answered has happened is
// looked at: our object shows the token that it was put with.
func (s *sink) put(ctx context.Context, name string, data []byte) error {
	token, err := s.token()
	if err != nil {
		return err
	}
	key := s.at.key(name)
	err = s.putObject(ctx, key, token, data, true)
	if err == nil {
		return nil
	}
	if isUnconditional(err) {
		return fmt.Errorf("%w: the store cannot create an object only if its key is free: %w", stage.ErrRefused, short(err))
	}
	out, lookErr := s.head(ctx, key, false)
	switch {
	case lookErr == nil && out.Metadata[metaToken] == token:
		return nil
	case lookErr == nil && isTaken(err):
		return &fs.PathError{Op: "put", Path: key, Err: fs.ErrExist}
	case lookErr == nil:
		return errors.Join(wrap(err, "put %s", key), &fs.PathError{Op: "put", Path: key, Err: fs.ErrExist})
	case isAbsent(lookErr):
		return wrap(err, "put %s", key)
	}
	return errors.Join(wrap(err, "put %s", key), wrap(lookErr, "look at %s", key))
}

// putObject puts an object, if its key is free where that is asked for.
func (s *sink) putObject(ctx context.Context, key, token string, data []byte, absent bool) error {
	c := s.client
	in := &s3.PutObjectInput{Bucket: aws.String(s.at.bucket), Key: aws.String(key), Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
		Metadata: map[string]string{metaToken: token}, ContentType: aws.String(contentType("", strings.TrimPrefix(path.Ext(key), "."))),
		ServerSideEncryption: types.ServerSideEncryption(c.sse), SSEKMSKeyId: optional(c.kmsKey), ACL: types.ObjectCannedACL(c.acl),
		RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	if absent {
		in.IfNoneMatch = aws.String("*")
	}
	if h := s.checksum.new(); h != nil {
		_, _ = h.Write(data) // cannot fail
		s.checksum.onPut(in, encode(h))
	}
	_, err := c.PutObject(ctx, in)
	return err
}

func (s *sink) get(ctx context.Context, name string) (data []byte, err error) {
	c, key := s.client, s.at.key(name)
	in := &s3.GetObjectInput{Bucket: aws.String(s.at.bucket), Key: aws.String(key), RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	out, err := c.GetObject(ctx, in)
	if isAbsent(err) {
		return nil, &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, wrap(err, "get %s", key)
	}
	defer func() { err = errors.Join(err, out.Body.Close()) }()
	data, err = io.ReadAll(io.LimitReader(out.Body, maxNote))
	if err == nil && int64(len(data)) != aws.ToInt64(out.ContentLength) {
		err = fmt.Errorf("get %s: %d bytes came of %d", key, len(data), aws.ToInt64(out.ContentLength))
	}
	return data, err
}

// contentType is what an object is said to be: what the job says, else what its extension stands for.
func contentType(said, ext string) string {
	if said != "" {
		return said
	}
	switch ext {
	case "csv":
		return "text/csv; charset=utf-8"
	case "json":
		return "application/json"
	case "ndjson":
		return "application/x-ndjson"
	case "parquet":
		return "application/vnd.apache.parquet"
	}
	return "application/octet-stream"
}
