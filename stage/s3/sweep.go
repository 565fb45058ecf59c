package s3

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/clinkctl/clinkctl/runstate"
)

// Visible gives the names at the destination that are artifacts of the run.
func (s *sink) Visible(ctx context.Context, run runstate.Token) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	c := s.client
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: aws.String(s.at.bucket), Prefix: aws.String(s.at.key("sub")), Delimiter: aws.String("/"),
		RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)})
	var visible []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, wrap(err, "list %s", s.at)
		}
		for _, o := range page.Contents {
			if name, ok := s.at.name(aws.ToString(o.Key)); ok && runOf(name) == run {
				visible = append(visible, name)
			}
		}
	}
	slices.Sort(visible)
	return visible, nil
}

// Sweep aborts the uploads whose keys are names of the run's artifacts, but those of live handles. Nothing else tells whose
// an upload is, and a name with a run's token is given by nobody but that run.
func (s *sink) Sweep(ctx context.Context, run runstate.Token, live []runstate.Handle) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, h := range live {
		if h.Backend != scheme {
			continue // staged at another sink
		}
		p, err := s.read(h)
		if err != nil {
			return fmt.Errorf("sweep %s: %w", run, err)
		}
		keep[p.Upload] = true
	}
	uploads, err := s.uploadsOf(ctx, run)
	if err != nil {
		return err
	}
	var errs []error
	for _, u := range uploads {
		if !keep[aws.ToString(u.UploadId)] {
			errs = append(errs, s.abortUpload(ctx, aws.ToString(u.Key), aws.ToString(u.UploadId)))
		}
	}
	return errors.Join(errs...)
}

// How a store lists uploads.
const (
	listsUnknown int32 = iota
	listsByPrefix
	listsByKey // of an exact key only
)

// uploadsOf lists the open uploads of a run. Some stores list uploads only of an exact key, and say nothing of that: there
// the keys that this process knows of are asked for one by one.
func (s *sink) uploadsOf(ctx context.Context, run runstate.Token) ([]types.MultipartUpload, error) {
	all, err := s.uploads(ctx, s.at.key("sub"))
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		s.lists.Store(listsByPrefix)
	}
	if err := s.learnLists(ctx, run); err != nil {
		return nil, err
	}
	if s.lists.Load() == listsByKey {
		for _, key := range s.keysOf(run) {
			some, err := s.uploads(ctx, key)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return slices.DeleteFunc(all, func(u types.MultipartUpload) bool {
		name, ok := s.at.name(aws.ToString(u.Key))
		return !ok || runOf(name) != run
	}), nil
}

func (s *sink) uploads(ctx context.Context, prefix string) ([]types.MultipartUpload, error) {
	c := s.client
	pages := s3.NewListMultipartUploadsPaginator(c, &s3.ListMultipartUploadsInput{Bucket: aws.String(s.at.bucket), Prefix: aws.String(prefix),
		RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)})
	var all []types.MultipartUpload
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, wrap(err, "list the uploads of %s", s.at)
		}
		all = append(all, page.Uploads...)
	}
	return all, nil
}
