package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

const probePrefix = "probe-"

// Probe finds out whether the store can do what a promise rests on, with nothing left behind and no right to delete needed:
// that a look at an object is answered, whether it is there or not; that metadata come back; that an object is not replaced
// when that is asked for; and that an upload can be begun, filled, listed and aborted.
func (s *sink) Probe(ctx context.Context, run runstate.Token) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return err
	}
	for _, try := range []func(context.Context, runstate.Token) error{s.probeLook, s.probeCondition, s.probeUpload} {
		if err := try(ctx, run); err != nil {
			return fmt.Errorf("probe %s: %w", s.at, err)
		}
	}
	return nil
}

// probeLook looks at an object that is there and at one that is not.
func (s *sink) probeLook(ctx context.Context, run runstate.Token) error {
	out, err := s.head(ctx, s.at.key(idNote), false)
	if err != nil {
		return wrap(err, "look at an object (HEAD): what is published could not be proved")
	}
	if out.Metadata[metaToken] == "" {
		return fmt.Errorf("%w: the store does not keep the metadata of objects, and nothing else tells ours from others: %s shows none; if it is a copy, put it anew", stage.ErrRefused, idNote)
	}
	_, err = s.head(ctx, s.at.key(stage.Hidden+"/"+probePrefix+string(run)), false)
	switch {
	case err == nil:
		return fmt.Errorf("%w: the store shows an object under a name that nobody has given", stage.ErrRefused)
	case !isAbsent(err):
		return wrap(err, "look at an object that is not there (HEAD): s3:ListBucket is needed for an answer")
	}
	return nil
}

// probeCondition puts the id where it is: a store that replaces it has not changed it.
func (s *sink) probeCondition(ctx context.Context, _ runstate.Token) error {
	token, err := s.token()
	if err != nil {
		return err
	}
	err = s.putObject(ctx, s.at.key(idNote), token, []byte(s.id+"\n"), true)
	switch {
	case err == nil:
		return fmt.Errorf("%w: the store replaces an object though it is asked not to (If-None-Match): two processes could not be kept apart there", stage.ErrRefused)
	case isUnconditional(err):
		return fmt.Errorf("%w: the store cannot create an object only if its key is free (If-None-Match): %w", stage.ErrRefused, short(err))
	case !isTaken(err):
		return wrap(err, "put an object that is there (If-None-Match)")
	}
	return nil
}

// probeUpload begins an upload, sends a part of it with the checksum that is to be used, lists it, and aborts it.
func (s *sink) probeUpload(ctx context.Context, run runstate.Token) (err error) {
	c := s.client
	w := &writer{sink: s, artifact: runstate.Artifact{Run: run}, key: s.at.key(stage.Hidden + "/" + probePrefix + string(run)), ctx: ctx}
	if w.token, err = s.token(); err != nil {
		return err
	}
	defer func() {
		if err != nil { // what cannot be given up either is no run's, and invisible: the probe's own error is told
			uploads, _ := s.uploads(context.WithoutCancel(ctx), w.key)
			_ = s.clearProbe(context.WithoutCancel(ctx), w.key, uploads, "")
		}
	}()
	if err := w.create(); err != nil {
		return s.refuseChecksum(err)
	}
	defer func() {
		err = errors.Join(err, s.abortUpload(context.WithoutCancel(ctx), w.key, w.upload))
	}()
	if err := w.put(1, bytes.Repeat([]byte(run), 8)); err != nil {
		return s.refuseChecksum(err)
	}
	parts, err := c.ListParts(ctx, c.listParts(s.at.bucket, w.key, w.upload))
	if err != nil {
		return wrap(err, "list the parts of an upload")
	}
	if len(parts.Parts) != 1 || aws.ToString(parts.Parts[0].ETag) != w.parts[0].ETag {
		return fmt.Errorf("%w: the store does not list the part that it has taken", stage.ErrRefused)
	}
	uploads, err := s.listed(ctx, w.key, w.upload)
	if err != nil {
		return fmt.Errorf("what a crash leaves could not be found: %w", err)
	}
	return s.clearProbe(ctx, w.key, uploads, w.upload)
}

// listed lists the uploads of a probe's key, of which there is one, and learns from it whether the store lists uploads by prefix.
func (s *sink) listed(ctx context.Context, key, upload string) ([]types.MultipartUpload, error) {
	uploads, err := s.uploads(ctx, key[:len(key)-1])
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(uploads, func(u types.MultipartUpload) bool { return aws.ToString(u.UploadId) == upload }) {
		s.lists.Store(listsByPrefix)
		return uploads, nil
	}
	s.lists.Store(listsByKey)
	return s.uploads(ctx, key)
}

// learnLists begins an upload to learn how the store lists them, where no probe has.
func (s *sink) learnLists(ctx context.Context, run runstate.Token) (err error) {
	if s.lists.Load() != listsUnknown {
		return nil
	}
	w := &writer{sink: s, artifact: runstate.Artifact{Run: run}, key: s.at.key(stage.Hidden + "/" + probePrefix + string(run)), ctx: ctx}
	if w.token, err = s.token(); err != nil {
		return err
	}
	defer func() {
		if err != nil { // what the sweep is told is its own error
			uploads, _ := s.uploads(context.WithoutCancel(ctx), w.key)
			_ = s.clearProbe(context.WithoutCancel(ctx), w.key, uploads, "")
		}
	}()
	if err := w.create(); err != nil {
		return err
	}
	uploads, err := s.listed(ctx, w.key, w.upload)
	return errors.Join(err, s.clearProbe(context.WithoutCancel(ctx), w.key, uploads, ""), s.abortUpload(context.WithoutCancel(ctx), w.key, w.upload))
}

// clearProbe gives up the uploads that a probe has begun under its key, which nobody else uses, but for one: a reply that was
// lost may hide some, of tries before the one that was answered.
func (s *sink) clearProbe(ctx context.Context, key string, uploads []types.MultipartUpload, but string) error {
	var errs []error
	for _, u := range uploads {
		if aws.ToString(u.Key) == key && aws.ToString(u.UploadId) != but {
			errs = append(errs, s.abortUpload(ctx, key, aws.ToString(u.UploadId)))
		}
	}
	return errors.Join(errs...)
}

// refuseChecksum says what to do about a store that refuses an upload with a checksum.
func (s *sink) refuseChecksum(err error) error {
	if s.checksum == noChecksum || status(err)/100 != 4 && status(err) != 501 || isCode(err, "AccessDenied", "Forbidden") {
		return err
	}
	return fmt.Errorf("%w: it may not know the checksum %s; there is checksum: none: %w", stage.ErrRefused, s.checksum, err)
}
