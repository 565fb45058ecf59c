package s3test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
)

// apiError is an answer that refuses.
type apiError struct {
	status        int
	code, message string
	header        http.Header
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.message) }

// internal is how AWS words an InternalError.
const internal = "We encountered an internal error. Please try again."

// errDropped is no answer at all.
var errDropped = errors.New("the connection is closed")

func fail(status int, code, message string) error {
	return &apiError{status: status, code: code, message: message}
}

// The refusals that more than one place gives.
func noSuchUpload() error {
	return fail(http.StatusNotFound, "NoSuchUpload", "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.")
}

func noSuchKey() error {
	return fail(http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
}

func preconditionFailed() error {
	return fail(http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
}

func invalidPart() error {
	return fail(http.StatusBadRequest, "InvalidPart", "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.")
}

func invalidRequest(format string, args ...any) error {
	return fail(http.StatusBadRequest, "InvalidRequest", fmt.Sprintf(format, args...))
}

func invalidArgument(format string, args ...any) error {
	return fail(http.StatusBadRequest, "InvalidArgument", fmt.Sprintf(format, args...))
}

func malformedXML() error {
	return fail(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema")
}

type errorXML struct {
	XMLName   xml.Name `xml:"Error"`
	Code      string
	Message   string
	Key       string `xml:",omitempty"`
	Bucket    string `xml:"BucketName,omitempty"`
	RequestID string `xml:"RequestId"`
	HostID    string `xml:"HostId"`
}

// answerError says an error in S3's words.
func (c *call) answerError(err error) answer {
	if errors.Is(err, errDropped) {
		return answer{drop: true}
	}
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		e = &apiError{status: http.StatusInternalServerError, code: "InternalError", message: err.Error()}
	}
	a := answerXML(e.status, errorXML{Code: e.code, Message: e.message, Key: c.key, Bucket: c.bucket, RequestID: c.id(), HostID: "host"})
	for name, values := range e.header {
		a.header[name] = values
	}
	if e.status == http.StatusNotModified {
		a.body = nil
	}
	return a
}

// answerXML is an answer with a document.
func answerXML(status int, document any) answer {
	body, err := xml.Marshal(document)
	if err != nil {
		// Every document here is of fixed types that XML can hold.
		panic(err)
	}
	return answer{status: status, body: append([]byte(xml.Header), body...), header: http.Header{"Content-Type": {"application/xml"}}}
}

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
