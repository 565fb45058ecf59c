package s3

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/smithy-go"
)

// errNoBucket says that there is no bucket: what was looked for in it is unknown, not absent.
var errNoBucket = errors.New("the bucket does not exist; create it, or mend its name")

// isCode tells whether a store has answered with one of some error codes.
func isCode(err error, codes ...string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, api.ErrorCode())
}

// status is the HTTP status of an answer, 0 where there was none.
func status(err error) int {
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return answer.HTTPStatusCode()
	}
	return 0
}

// isAbsent tells whether an answer to a look at an object says that there is none. Of a bucket that is missing nothing is known.
func isAbsent(err error) bool {
	return isCode(err, "NoSuchKey", "NotFound") && status(err) == http.StatusNotFound
}

// isNoUpload tells whether a store says that it has no such upload: completed, aborted, or never begun.
func isNoUpload(err error) bool { return isCode(err, "NoSuchUpload") }

// isTaken tells whether a condition says that a key is taken.
func isTaken(err error) bool {
	return isCode(err, "PreconditionFailed") || status(err) == http.StatusPreconditionFailed
}

// isUnconditional tells whether a store says that it does not know a condition.
func isUnconditional(err error) bool {
	return isCode(err, "NotImplemented", "InvalidArgument", "UnsupportedHeader") || status(err) == http.StatusNotImplemented
}

// isUntrusted tells whether a server has not proved who it is.
func isUntrusted(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

// isLate tells whether there was no answer within a time limit.
func isLate(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return ok && late.Timeout()
}

// wrap says what was attempted, and what to do about answers that people meet. The SDK's errors hold no secret: they are
// the store's answer, made discreet, and its request's id.
func wrap(err error, text string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(text, args...)
	var signing *v4.SigningError
	switch {
	case isUntrusted(err):
		return fmt.Errorf("%s: the store's certificate cannot be verified; where it is of an authority of your own, give that in the option ca: %w", what, short(err))
	case errors.As(err, &signing) || strings.Contains(err.Error(), "get credentials"):
		return fmt.Errorf("%s: there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE or the option profile, or run where a role is given: %w", what, short(err))
	case isCode(err, "NoSuchBucket"):
		return fmt.Errorf("%s: %w: %w", what, errNoBucket, short(err))
	case isCode(err, "AccessDenied", "Forbidden"):
		return fmt.Errorf("%s: access is denied; needed are s3:PutObject, s3:GetObject, s3:ListBucket, s3:AbortMultipartUpload, s3:ListMultipartUploadParts and s3:ListBucketMultipartUploads: %w", what, short(err))
	case isCode(err, expired...):
		return fmt.Errorf("%s: the credentials have expired: %w", what, short(err))
	case isLate(err):
		return fmt.Errorf("%s: there was no answer in time (option timeout): %w", what, short(err))
	case isUnexplained(err):
		return fmt.Errorf("%s: the store does not say why, as is its way where the credentials have expired: %w", what, short(err))
	case isCode(err, "RequestTimeTooSkewed"):
		return fmt.Errorf("%s: the clocks of this machine and the store differ: %w", what, short(err))
	case isCode(err, "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"):
		return fmt.Errorf("%s: the bucket is in another region: set the option region: %w", what, short(err))
	}
	return fmt.Errorf("%s: %w", what, short(err))
}

// shortError is an answer of the store in a line: code, message and the request's id, for whoever runs the store.
type shortError struct {
	text string
	err  error
}

func (e *shortError) Error() string { return e.text }
func (e *shortError) Unwrap() error { return e.err }

// short leaves out of an SDK's error what it says of itself.
func short(err error) error {
	if p, ok := errors.AsType[*processcreds.ProviderError](err); ok && strings.Contains(p.Error(), "process output:") {
		return &shortError{"what the credential process has printed is not the JSON that it should be", err} // it may hold the secret
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	text := api.ErrorCode()
	if m := api.ErrorMessage(); m != "" && m != text {
		text += ": " + m
	}
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		text = fmt.Sprintf("%d %s", answer.HTTPStatusCode(), text)
		if id := answer.ServiceRequestID(); id != "" {
			text += " (request " + id + ")"
		}
	}
	return &shortError{text, err}
}
