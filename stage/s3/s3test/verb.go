package s3test

import (
	"net/http"
	"net/url"
)

// Verb is a call of the S3 API, under the name that AWS gives it.
type Verb string

// What the store can do. Requests that are none of these are answered with 501 NotImplemented.
const (
	ListBuckets                     Verb = "ListBuckets"
	CreateBucket                    Verb = "CreateBucket"
	HeadBucket                      Verb = "HeadBucket"
	DeleteBucket                    Verb = "DeleteBucket"
	GetBucketLocation               Verb = "GetBucketLocation"
	GetBucketVersioning             Verb = "GetBucketVersioning"
	PutBucketVersioning             Verb = "PutBucketVersioning"
	GetBucketLifecycleConfiguration Verb = "GetBucketLifecycleConfiguration"
	ListObjectsV2                   Verb = "ListObjectsV2"
	ListMultipartUploads            Verb = "ListMultipartUploads"
	DeleteObjects                   Verb = "DeleteObjects"
	PutObject                       Verb = "PutObject"
	GetObject                       Verb = "GetObject"
	HeadObject                      Verb = "HeadObject"
	DeleteObject                    Verb = "DeleteObject"
	GetObjectTagging                Verb = "GetObjectTagging"
	CreateMultipartUpload           Verb = "CreateMultipartUpload"
	UploadPart                      Verb = "UploadPart"
	ListParts                       Verb = "ListParts"
	CompleteMultipartUpload         Verb = "CompleteMultipartUpload"
	AbortMultipartUpload            Verb = "AbortMultipartUpload"
)

// handler carries out a verb. The server's lock is held.
type handler func(*Server, *call) (answer, error)

var handlers = map[Verb]handler{
	ListBuckets:                     (*Server).listBuckets,
	CreateBucket:                    (*Server).createBucket,
	HeadBucket:                      (*Server).headBucket,
	DeleteBucket:                    (*Server).deleteBucket,
	GetBucketLocation:               (*Server).getLocation,
	GetBucketVersioning:             (*Server).getVersioning,
	PutBucketVersioning:             (*Server).putVersioning,
	GetBucketLifecycleConfiguration: (*Server).getLifecycle,
	ListObjectsV2:                   (*Server).listObjects,
	ListMultipartUploads:            (*Server).listUploads,
	DeleteObjects:                   (*Server).deleteObjects,
	PutObject:                       (*Server).putObject,
	GetObject:                       (*Server).getObject,
	HeadObject:                      (*Server).getObject,
	DeleteObject:                    (*Server).deleteObject,
	GetObjectTagging:                (*Server).getTagging,
	CreateMultipartUpload:           (*Server).createUpload,
	UploadPart:                      (*Server).uploadPart,
	ListParts:                       (*Server).listParts,
	CompleteMultipartUpload:         (*Server).complete,
	AbortMultipartUpload:            (*Server).abort,
}

// verbOf names what a request asks for; "" is nothing that is known here.
func verbOf(method, bucket, key string, query url.Values, header http.Header) Verb {
	for _, other := range []string{"acl", "attributes", "policy", "cors", "website", "versions", "retention", "legal-hold", "select", "restore"} {
		if query.Has(other) {
			return ""
		}
	}
	switch {
	case header.Get("X-Amz-Copy-Source") != "":
		return ""
	case bucket == "":
		return map[string]Verb{"GET": ListBuckets}[method]
	case key == "":
		return bucketVerb(method, query)
	}
	return objectVerb(method, query)
}

func bucketVerb(method string, query url.Values) Verb {
	byQuery := []struct {
		name  string
		verbs map[string]Verb
	}{
		{"versioning", map[string]Verb{"GET": GetBucketVersioning, "PUT": PutBucketVersioning}},
		{"lifecycle", map[string]Verb{"GET": GetBucketLifecycleConfiguration}},
		{"location", map[string]Verb{"GET": GetBucketLocation}},
		{"tagging", nil},
		{"uploads", map[string]Verb{"GET": ListMultipartUploads}},
		{"delete", map[string]Verb{"POST": DeleteObjects}},
		{"list-type", map[string]Verb{"GET": ListObjectsV2}},
	}
	for _, q := range byQuery {
		if query.Has(q.name) {
			return q.verbs[method]
		}
	}
	return map[string]Verb{"PUT": CreateBucket, "HEAD": HeadBucket, "DELETE": DeleteBucket}[method]
}

func objectVerb(method string, query url.Values) Verb {
	switch {
	case query.Has("tagging"):
		return map[string]Verb{"GET": GetObjectTagging}[method]
	case query.Has("uploads"):
		return map[string]Verb{"POST": CreateMultipartUpload}[method]
	case query.Has("uploadId"):
		return map[string]Verb{"PUT": UploadPart, "GET": ListParts, "POST": CompleteMultipartUpload, "DELETE": AbortMultipartUpload}[method]
	}
	return map[string]Verb{"PUT": PutObject, "GET": GetObject, "HEAD": HeadObject, "DELETE": DeleteObject}[method]
}
