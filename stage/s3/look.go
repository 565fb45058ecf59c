package s3

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// sight is what one look at an artifact's key has shown.
type sight int

const (
	absent sight = iota
	ours         // our artifact, whole
	other        // something else
)

// settling are the pauses between looks before an absence is believed: while an upload is being completed, some stores show
// neither the upload nor its object for a moment.
func settling() []time.Duration {
	return []time.Duration{20 * time.Millisecond, 80 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond}
}

// Inspect looks at the key and then at the upload. An absence of both is only told when it has stood for a while.
func (s *sink) Inspect(ctx context.Context, h runstate.Handle) (stage.Evidence, error) {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return stage.Evidence{}, err
	}
	defer leave()
	for looks, pauses := 0, settling(); ; looks++ {
		e, err := s.inspect(ctx, p)
		if err != nil || e.State != stage.Gone || looks == len(pauses) {
			return e, err
		}
		if err := s.env.Sleep(ctx, pauses[looks]); err != nil {
			return stage.Evidence{}, err
		}
	}
}

// begin enters a call about a handle.
func (s *sink) begin(ctx context.Context, h runstate.Handle) (leave func(), p promise, err error) {
	leave, err = s.enter(ctx)
	if err != nil {
		return nil, p, err
	}
	if p, err = s.read(h); err != nil {
		leave()
		return nil, p, err
	}
	s.touch(p.Key)
	return leave, p, nil
}

func (s *sink) inspect(ctx context.Context, p promise) (stage.Evidence, error) {
	final, detail, err := s.see(ctx, p)
	if err != nil {
		return stage.Evidence{}, err
	}
	switch final {
	case ours:
		return stage.Evidence{State: stage.Published, Detail: detail}, nil
	case other:
		return stage.Evidence{State: stage.Foreign, Detail: detail}, nil
	}
	staged, stagedDetail, err := s.seeUpload(ctx, p)
	if err != nil {
		return stage.Evidence{}, err
	}
	if staged == ours {
		return stage.Evidence{State: stage.Staged, Detail: stagedDetail}, nil
	}
	return stage.Evidence{State: stage.Gone, Detail: detail + "; " + stagedDetail}, nil
}

// see looks at the key under which an artifact is published. Ours is what shows our token, the artifact's size and, where
// it shows one, its checksum. ETags prove nothing: they are the store's own.
func (s *sink) see(ctx context.Context, p promise) (sight, string, error) {
	out, err := s.head(ctx, p.Key, p.Checksum != noChecksum)
	where := scheme + "://" + p.Bucket + "/" + p.Key
	if isAbsent(err) {
		return absent, where + " is not there", nil
	}
	if err != nil {
		return absent, "", wrap(err, "look at %s", where)
	}
	token, size, sum := out.Metadata[metaToken], aws.ToInt64(out.ContentLength), p.Checksum.of(out)
	if token == p.Token {
		s.seen(p.Key, aws.ToString(out.VersionId))
	}
	switch {
	case token == "":
		return other, where + " is there, and shows no token of clinkctl's", nil
	case token != p.Token:
		return other, where + " is there, with the token of another artifact", nil
	case size != p.handle.Bytes:
		return other, fmt.Sprintf("%s has our token and %d bytes, the artifact has %d", where, size, p.handle.Bytes), nil
	case sum != "" && sum != p.Sum:
		return other, fmt.Sprintf("%s has our token and the checksum %s, the artifact has %s", where, sum, p.Sum), nil
	case sum == "":
		return ours, fmt.Sprintf("%s has our token and %d bytes", where, size), nil
	}
	return ours, fmt.Sprintf("%s has our token, %d bytes and the checksum %s", where, size, sum), nil
}

func (s *sink) head(ctx context.Context, key string, sum bool) (*s3.HeadObjectOutput, error) {
	c := s.client
	in := &s3.HeadObjectInput{Bucket: aws.String(s.at.bucket), Key: aws.String(key), RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	if sum {
		in.ChecksumMode = types.ChecksumModeEnabled
	}
	return c.HeadObject(ctx, in)
}

// Version names the version that an artifact is, in a bucket that keeps versions.
func (s *sink) Version(ctx context.Context, h runstate.Handle) (string, error) {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return "", err
	}
	defer leave()
	if v, ok := s.versionOf(p.Key); ok {
		return v, nil
	}
	final, detail, err := s.see(ctx, p)
	if err == nil && final != ours {
		err = fmt.Errorf("%s", detail)
	}
	v, _ := s.versionOf(p.Key)
	return v, err
}

// seen notes the version that an artifact was seen to be.
func (s *sink) seen(key, version string) {
	s.touchedMu.Lock()
	defer s.touchedMu.Unlock()
	s.versions[key] = version
}

func (s *sink) versionOf(key string) (string, bool) {
	s.touchedMu.Lock()
	defer s.touchedMu.Unlock()
	v, ok := s.versions[key]
	return v, ok
}

// seeUpload looks whether an upload has every part of its artifact. A part that was sent twice may be listed twice.
func (s *sink) seeUpload(ctx context.Context, p promise) (sight, string, error) {
	what := fmt.Sprintf("upload %s of %s", p.Upload, p.Key)
	missing := map[part]bool{}
	for _, q := range p.Parts {
		missing[part{Number: q.Number, Size: q.Size, ETag: q.ETag}] = true
	}
	pages := s3.NewListPartsPaginator(s.client, s.client.listParts(s.at.bucket, p.Key, p.Upload))
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if isNoUpload(err) {
			return absent, "the store has no " + what, nil
		}
		if err != nil {
			return absent, "", wrap(err, "list the parts of %s", what)
		}
		for _, q := range page.Parts {
			delete(missing, part{Number: aws.ToInt32(q.PartNumber), Size: aws.ToInt64(q.Size), ETag: aws.ToString(q.ETag)})
		}
	}
	for q := range missing {
		return other, fmt.Sprintf("%s lacks %d of its %d parts, such as part %d", what, len(missing), len(p.Parts), q.Number), nil
	}
	return ours, fmt.Sprintf("%s has all of its %d parts, %d bytes", what, len(p.Parts), p.handle.Bytes), nil
}

func (c *client) listParts(bucket, key, upload string) *s3.ListPartsInput {
	in := &s3.ListPartsInput{Bucket: aws.String(bucket), Key: aws.String(key), UploadId: aws.String(upload),
		RequestPayer: c.payer(), ExpectedBucketOwner: optional(c.owner)}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = c.customer()
	return in
}

func (c *client) payer() types.RequestPayer {
	if c.requester {
		return types.RequestPayerRequester
	}
	return ""
}

// optional is a header that is left out where it is empty.
func optional(v string) *string {
	if v == "" {
		return nil
	}
	return &v
}
