package s3

import (
	"bytes"
	"context"
	"crypto/md5" // SSE-C asks for it, of a key and not as a proof
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/clinkctl/clinkctl/stage/options"
)

// customerKeyBytes is the size of an encryption key of the user's own: AES-256.
const customerKeyBytes = 32

// resolveKey reads an encryption key from where a reference says that it is: as it is, or in base64.
func resolveKey(reference string) ([]byte, error) {
	if reference == "" {
		return nil, nil
	}
	data, err := options.Secret(reference)
	if err != nil {
		return nil, err
	}
	if len(data) == customerKeyBytes {
		return data, nil
	}
	data = bytes.TrimSpace(data)
	if key, err := base64.StdEncoding.DecodeString(string(data)); err == nil && len(key) == customerKeyBytes {
		return key, nil
	}
	if len(data) == customerKeyBytes {
		return data, nil
	}
	return nil, fmt.Errorf("it is no key of %d bytes, as it is or in base64", customerKeyBytes)
}

// customer is the encryption key of the user's own, as requests have it.
func (c *client) customer() (algorithm, key, sum *string) {
	if c.key == nil {
		return nil, nil, nil
	}
	digest := md5.Sum(c.key)
	return aws.String("AES256"), aws.String(base64.StdEncoding.EncodeToString(c.key)), aws.String(base64.StdEncoding.EncodeToString(digest[:]))
}

// secretHeaders are those of a request that nobody may read. The secret key itself is never sent.
var secretHeaders = []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Server-Side-Encryption-Customer-Key"}

// discreet takes out of an error what it repeats of its request's secrets: some stores and proxies answer with the headers
// that they got, and what they say is told and journaled.
func discreet(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	request, ok := in.Request.(*smithyhttp.Request)
	if err == nil || !ok {
		return out, metadata, err
	}
	var pairs []string
	for _, name := range secretHeaders {
		if v := request.Header.Get(name); v != "" && strings.Contains(err.Error(), v) {
			pairs = append(pairs, v, "***")
		}
	}
	if len(pairs) == 0 {
		return out, metadata, err
	}
	return out, metadata, &discreetError{err, strings.NewReplacer(pairs...)}
}

// discreetError is an error of the store whose texts have no secret. It is a smithy.APIError, whatever it hides.
type discreetError struct {
	err  error
	hide *strings.Replacer
}

func (e *discreetError) Error() string { return e.hide.Replace(e.err.Error()) }
func (e *discreetError) Unwrap() error { return e.err }

func (e *discreetError) answer() smithy.APIError {
	if api, ok := errors.AsType[smithy.APIError](e.err); ok {
		return api
	}
	return &smithy.GenericAPIError{Code: "no answer that can be read", Message: e.err.Error()}
}

func (e *discreetError) ErrorCode() string             { return e.hide.Replace(e.answer().ErrorCode()) }
func (e *discreetError) ErrorMessage() string          { return e.hide.Replace(e.answer().ErrorMessage()) }
func (e *discreetError) ErrorFault() smithy.ErrorFault { return e.answer().ErrorFault() }
