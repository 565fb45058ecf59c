package s3

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/clinkctl/clinkctl/stage"
)

// staleAtMinIO is how long MinIO keeps an upload unless it is told otherwise (api stale_uploads_expiry), and no rule of a
// bucket says so. https://min.io/docs/minio/linux/reference/minio-server/settings/core.html
const staleAtMinIO = 24 * time.Hour

// Limits asks for the bucket's rules that abort uploads, and for the time that the credentials have left.
func (s *sink) Limits(ctx context.Context) (l stage.Limits, err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return l, err
	}
	defer leave()
	if l.Access, err = s.client.access(ctx); err != nil {
		return l, err
	}
	if s.client.holds != 0 {
		l.Hold, l.HoldBy = s.client.holds, "the option holds"
		return l, nil
	}
	l.Hold, l.HoldBy, err = s.hold(ctx)
	return l, err
}

// hold is the shortest time after which the bucket aborts an upload of ours; 0: it does not.
func (s *sink) hold(ctx context.Context) (hold time.Duration, by string, err error) {
	c := s.client
	var server string
	out, err := c.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: aws.String(s.at.bucket), ExpectedBucketOwner: optional(c.owner)}, seeServer(&server))
	switch {
	case isCode(err, "NoSuchLifecycleConfiguration"):
	case status(err) == http.StatusNotImplemented || isCode(err, "NotImplemented", "MethodNotAllowed", "UnsupportedOperation"): // a store without rules has none that aborts
	case isCode(err, "AccessDenied", "Forbidden"):
		return 0, "", fmt.Errorf("%w: how long the bucket keeps an unfinished upload may not be read (s3:GetLifecycleConfiguration): say it with the option holds, such as holds: 168h: %w", stage.ErrRefused, short(err))
	case err != nil:
		return 0, "", wrap(err, "read the lifecycle rules of bucket %s", s.at.bucket)
	default:
		for _, r := range out.Rules {
			days, ok := s.aborts(r)
			if d := time.Duration(days) * 24 * time.Hour; ok && (hold == 0 || d < hold) {
				hold, by = d, fmt.Sprintf("the bucket's lifecycle rule %q", aws.ToString(r.ID))
			}
		}
	}
	if strings.Contains(strings.ToLower(server), "minio") && (hold == 0 || hold > staleAtMinIO) {
		return staleAtMinIO, "MinIO, unless its stale_uploads_expiry is another; then say so with the option holds", nil
	}
	return hold, by, nil
}

// aborts tells after how many days a rule aborts uploads whose keys our artifacts may have.
func (s *sink) aborts(r types.LifecycleRule) (days int32, ok bool) {
	if r.Status != types.ExpirationStatusEnabled || r.AbortIncompleteMultipartUpload == nil {
		return 0, false
	}
	prefix := aws.ToString(r.Prefix) //lint:ignore SA1019 it is what older rules have
	if r.Filter != nil {
		prefix = aws.ToString(r.Filter.Prefix)
		if r.Filter.And != nil {
			prefix = aws.ToString(r.Filter.And.Prefix)
		}
	}
	ours := s.at.key("sub")
	return aws.ToInt32(r.AbortIncompleteMultipartUpload.DaysAfterInitiation), strings.HasPrefix(ours, prefix) || strings.HasPrefix(prefix, ours)
}

// seeServer notes what a store says that it is.
func seeServer(name *string) func(*s3.Options) {
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("clinkctl:server", func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
				out, meta, err := next.HandleDeserialize(ctx, in)
				if r, ok := out.RawResponse.(*smithyhttp.Response); ok && r != nil {
					*name = r.Header.Get("Server")
				}
				return out, meta, err
			}), middleware.After)
		})
	}
}

// access is when credentials end that are not renewed. Only those of the environment are such, where whoever has set them
// says until when they last.
func (c *client) access(ctx context.Context) (time.Time, error) {
	v, err := c.creds.Retrieve(ctx)
	if err != nil {
		return time.Time{}, wrap(err, "get credentials")
	}
	until, err := time.Parse(time.RFC3339, os.Getenv("AWS_CREDENTIAL_EXPIRATION"))
	if v.Source != config.CredentialsSourceName || v.SessionToken == "" || err != nil { // a text that is no time tells nothing
		return time.Time{}, nil
	}
	return until, nil
}

// memory is what a sink's buffers take at most: each writer has a part that it fills and one that it keeps to read back, and
// some parts are on their way.
func memory(at stage.Place, subtasks int) (int64, error) {
	set, err := settingsOf(at)
	return set.partSize * int64(2*subtasks+set.parallel), err
}
