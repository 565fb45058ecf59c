package s3

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// state is a prefix as a store of objects that a state is kept in.
type state struct{ *sink }

var _ runstate.Objects = state{}

func openState(ctx context.Context, env Env, at stage.Place) (runstate.Objects, error) {
	s, err := connect(ctx, env, at)
	return state{s}, err
}

// Create makes an object if its key is free.
func (s state) Create(ctx context.Context, name string, data []byte) error {
	token, err := s.token()
	if err != nil {
		return err
	}
	key := s.at.key(name)
	err = s.putObject(ctx, key, token, data, true)
	if isTaken(err) {
		return &fs.PathError{Op: "create", Path: key, Err: fs.ErrExist}
	}
	return wrap(err, "put %s", key)
}

// Replace puts an object.
func (s state) Replace(ctx context.Context, name string, data []byte) error {
	token, err := s.token()
	if err != nil {
		return err
	}
	return wrap(s.putObject(ctx, s.at.key(name), token, data, false), "put %s", s.at.key(name))
}

// Get reads an object.
func (s state) Get(ctx context.Context, name string) ([]byte, error) { return s.get(ctx, name) }

// List gives what is right below a folder.
func (s state) List(ctx context.Context, folder string) ([]string, error) {
	c, prefix := s.client, s.at.key(folder)
	if prefix != "" {
		prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: aws.String(s.at.bucket), Prefix: aws.String(prefix), Delimiter: aws.String("/"),
		RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)})
	var names []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, wrap(err, "list %s", s.at)
		}
		for _, o := range page.Contents {
			names = append(names, strings.TrimPrefix(aws.ToString(o.Key), prefix))
		}
		for _, p := range page.CommonPrefixes {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(aws.ToString(p.Prefix), prefix), "/"))
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" }), nil
}
