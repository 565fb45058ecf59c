package s3

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// once makes a call one try: whoever makes it looks for itself what has become of it. Only a try that was refused because
// credentials have expired has done nothing, for certain, and is made again with new ones.
func (c *client) once(o *s3.Options) { o.Retryer = &refreshing{oneTry{}, c.creds} }

// oneTry has room for a second try, and never asks for it.
type oneTry struct{ aws.NopRetryer }

func (oneTry) MaxAttempts() int                             { return 2 }
func (oneTry) RetryDelay(int, error) (time.Duration, error) { return 0, nil }

// refreshing asks for new credentials when the store says that those it was shown have expired, and tries again.
type refreshing struct {
	aws.Retryer
	creds aws.CredentialsProvider
}

func (r *refreshing) IsErrorRetryable(err error) bool {
	if isExpired(err) && !aws.IsCredentialsProvider(r.creds, credentials.StaticCredentialsProvider{}) {
		if cache, ok := r.creds.(interface{ Invalidate() }); ok {
			cache.Invalidate()
			return true
		}
	}
	return !isUntrusted(err) && r.Retryer.IsErrorRetryable(err)
}

// isExpired tells whether a store says that credentials have expired, or may say so: the answer to a HEAD has no body, and
// a status of 400 is all that there is.
func isExpired(err error) bool {
	return isCode(err, expired...) || isUnexplained(err)
}

var expired = []string{"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}

func isUnexplained(err error) bool {
	return isCode(err, "BadRequest") && status(err) == http.StatusBadRequest
}
