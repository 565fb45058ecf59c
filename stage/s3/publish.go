package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Publish completes the upload. What the store answers to that is no proof, good or bad: where it is bad, the key is looked
// at, for as long as it takes another process's completion to show.
func (s *sink) Publish(ctx context.Context, h runstate.Handle) error {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return err
	}
	defer leave()
	if final, err := s.finalOf(ctx, p); err != nil || final == ours {
		return err
	}
	err = s.complete(ctx, p, true)
	if err != nil && isUnconditional(err) { // the look before has to do
		err = s.complete(ctx, p, false)
	}
	if err == nil {
		return nil
	}
	return s.settled(ctx, p, wrap(err, "complete the upload of %s", p.Key))
}

// settled answers for a completion that was answered with cause: nil where the artifact turns out to be there all the same.
func (s *sink) settled(ctx context.Context, p promise, cause error) error {
	for _, pause := range append(settling(), 0) {
		final, err := s.finalOf(ctx, p)
		switch {
		case errors.Is(err, stage.ErrForeign):
			return err
		case err != nil:
			return errors.Join(cause, err)
		case final == ours:
			return nil
		}
		if pause > 0 {
			if err := s.env.Sleep(ctx, pause); err != nil {
				return errors.Join(cause, err)
			}
		}
	}
	return cause
}

// finalOf looks at an artifact's key; something else there is stage.ErrForeign.
func (s *sink) finalOf(ctx context.Context, p promise) (sight, error) {
	final, detail, err := s.see(ctx, p)
	if err == nil && final == other {
		err = fmt.Errorf("publish %s: %w: %s", p.handle.Name, stage.ErrForeign, detail)
	}
	return final, err
}

// complete asks once: whoever asks looks for himself what has become of it.
func (s *sink) complete(ctx context.Context, p promise, conditional bool) error {
	c := s.client
	in := &s3.CompleteMultipartUploadInput{Bucket: aws.String(p.Bucket), Key: aws.String(p.Key), UploadId: aws.String(p.Upload),
		MultipartUpload: &types.CompletedMultipartUpload{}, RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	if conditional {
		in.IfNoneMatch, in.MpuObjectSize = aws.String("*"), aws.Int64(p.handle.Bytes)
	}
	for _, q := range p.Parts {
		done := types.CompletedPart{PartNumber: aws.Int32(q.Number), ETag: aws.String(q.ETag)}
		p.Checksum.onCompleted(&done, q.Sum)
		in.MultipartUpload.Parts = append(in.MultipartUpload.Parts, done)
	}
	p.Checksum.onComplete(in, p.Sum)
	_, err := c.CompleteMultipartUpload(ctx, in, c.once)
	return err
}

// Abort gives the upload up. Whether it was completed is looked at before and, as another process may complete it in between,
// for a while after: what is not there then will not come. An object is never deleted.
func (s *sink) Abort(ctx context.Context, h runstate.Handle) error {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.refusePublished(ctx, p); err != nil {
		return err
	}
	if err := s.abortUpload(ctx, p.Key, p.Upload); err != nil {
		return err
	}
	for _, pause := range append(settling(), 0) { // a completion that was under way may still make the object
		if err := s.refusePublished(ctx, p); err != nil {
			return err
		}
		if pause > 0 {
			if err := s.env.Sleep(ctx, pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// refusePublished answers ErrPublished if the artifact is published.
func (s *sink) refusePublished(ctx context.Context, p promise) error {
	final, detail, err := s.see(ctx, p)
	if err != nil || final != ours {
		return err
	}
	return fmt.Errorf("abort %s: %w: %s", p.handle.Name, stage.ErrPublished, detail)
}

// abortTries is how often an upload is aborted until none of its parts is left: one that was on its way may land after.
const abortTries = 4

// abortUpload gives an upload up, and proves it.
func (s *sink) abortUpload(ctx context.Context, key, upload string) error {
	c := s.client
	in := &s3.AbortMultipartUploadInput{Bucket: aws.String(s.at.bucket), Key: aws.String(key), UploadId: aws.String(upload),
		RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	for try := range abortTries {
		_, err := c.AbortMultipartUpload(ctx, in)
		if err != nil && !isNoUpload(err) {
			return wrap(err, "abort the upload of %s", key)
		}
		_, err = c.ListParts(ctx, c.listParts(s.at.bucket, key, upload))
		if isNoUpload(err) {
			return nil
		}
		if err != nil {
			return wrap(err, "list the parts of the aborted upload of %s", key)
		}
		if err := s.env.Sleep(ctx, settling()[min(try, len(settling())-1)]); err != nil {
			return err
		}
	}
	return fmt.Errorf("abort the upload %s of %s: the store still has it after %d tries", upload, key, abortTries)
}
