package s3

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/clinkctl/clinkctl/stage"
)

// Found gives the open uploads whose keys are names of artifacts, of any run. Stores that list uploads of an exact key only
// show none.
func (s *sink) Found(ctx context.Context) ([]stage.Found, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	uploads, err := s.uploads(ctx, s.at.key("sub"))
	if err != nil {
		return nil, err
	}
	var all []stage.Found
	for _, u := range uploads {
		name, ok := s.at.name(aws.ToString(u.Key))
		run := runOf(name)
		if !ok || run == "" {
			continue
		}
		f := stage.Found{Run: run, Name: name, Since: aws.ToTime(u.Initiated).UTC()}
		pages := s3.NewListPartsPaginator(s.client, s.client.listParts(s.at.bucket, aws.ToString(u.Key), aws.ToString(u.UploadId)))
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if isNoUpload(err) { // it has ended meanwhile
				break
			}
			if err != nil {
				return nil, wrap(err, "list the parts of %s", name)
			}
			f.Parts += len(page.Parts)
			for _, p := range page.Parts {
				f.Bytes += aws.ToInt64(p.Size)
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// Marks gives the names of the key marks that are there.
func (s *sink) Marks(ctx context.Context) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	names, err := state{s}.List(ctx, stage.Hidden)
	if err != nil {
		return nil, err
	}
	var marks []string
	for _, n := range names {
		if strings.HasPrefix(n, "key-") && strings.HasSuffix(n, ".json") {
			marks = append(marks, stage.Hidden+"/"+n)
		}
	}
	return marks, nil
}
