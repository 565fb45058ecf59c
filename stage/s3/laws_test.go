package s3_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
	"github.com/clinkctl/clinkctl/stage/stagetest"
)

// The laws on a real store, with every checksum.
func TestLaws(t *testing.T) {
	for _, sum := range []string{"none", "crc64nvme", "crc32c", "sha256"} {
		if testing.Short() && sum != "crc64nvme" {
			continue
		}
		t.Run(sum, func(t *testing.T) {
			st := realStore(t)
			stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place {
				return st.place(t, name, map[string]any{"checksum": sum})
			})
		})
	}
}

// The laws on stores that misbehave as real ones do.
func TestLawsOfOthers(t *testing.T) {
	for _, kind := range []s3test.Kind{"", s3test.SeaweedFS, s3test.Versitygw, s3test.MinIO, s3test.R2} {
		t.Run("like "+string(kind), func(t *testing.T) {
			st, fake := fakeStore(t)
			fake.Like(kind)
			stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place { return st.place(t, name, nil) })
		})
	}
}

// store is an object store with a bucket for one test, seen from outside clinkctl.
type store struct {
	endpoint, bucket string
	client           *awss3.Client
	places           atomic.Int64
	fake             *s3test.Server // nil of a real one
	pace             time.Duration  // how many times shorter pauses are: a store on this machine needs less patience than one that is far
}

var buckets atomic.Int64

// realStore is the store that CLINKCTL_TEST_S3 names.
func realStore(t *testing.T) *store {
	t.Helper()
	endpoint := os.Getenv("CLINKCTL_TEST_S3")
	if endpoint == "" {
		t.Skip(`CLINKCTL_TEST_S3 names no object store: eval "$(scripts/services/versitygw start DIR)"`)
	}
	return newStore(t, endpoint, os.Getenv("CLINKCTL_TEST_S3_ACCESS_KEY"), os.Getenv("CLINKCTL_TEST_S3_SECRET_KEY"))
}

// fakeStore is a store in memory, which does as AWS does until it is told otherwise.
func fakeStore(t *testing.T) (*store, *s3test.Server) {
	t.Helper()
	fake := s3test.New(s3test.Options{AccessKey: "AK", SecretKey: "SK"})
	server := httptest.NewServer(fake)
	t.Cleanup(func() {
		fake.Close()
		server.Close()
	})
	st := newStore(t, server.URL, "AK", "SK")
	st.fake, st.pace = fake, 200
	return st, fake
}

// newStore makes a bucket at a store, and the process's environment one that has its credentials.
func newStore(t *testing.T, endpoint, access, secret string) *store {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	st := &store{endpoint: endpoint, pace: 5, bucket: fmt.Sprintf("t%d-%d-%d", os.Getpid(), time.Now().UnixNano(), buckets.Add(1))}
	st.client = awss3.New(awss3.Options{BaseEndpoint: aws.String(endpoint), Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(access, secret, "")})
	if _, err := st.client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(st.bucket)}); err != nil {
		t.Fatal(err)
	}
	return st
}

// at is a destination in the store's bucket.
func (st *store) at(prefix string, options map[string]any) stage.Place {
	reach := map[string]any{"endpoint": st.endpoint, "retries": 4, "timeout": "30s"}
	for k, v := range options {
		reach[k] = v
	}
	return stage.Place{To: "s3://" + st.bucket + "/" + prefix, Reach: reach}
}

func (st *store) env(around func(http.RoundTripper) http.RoundTripper) s3.Env {
	return s3.Env{Random: rand.Reader, Now: time.Now, Sleep: st.sleep, Around: around}
}

func (st *store) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d / st.pace):
		return nil
	}
}

// place is a destination for the laws.
func (st *store) place(t *testing.T, name string, options map[string]any) stagetest.Place {
	prefix := fmt.Sprintf("%d/%s", st.places.Add(1), name)
	steer := &steering{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key := func(name string) string { return prefix + "/" + name }
	return stagetest.Place{
		Open: func() stage.Sink {
			s, err := s3.Backend(st.env(steer.around)).Open(t.Context(), st.at(prefix, options), true)
			must(err)
			return s
		},
		Visible: func() map[string][]byte { return st.visible(t, prefix) },
		Staged:  func() []string { return st.staged(t, prefix) },
		Plant: func(name string, data []byte) {
			_, err := st.client.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(st.bucket), Key: aws.String(key(name)), Body: strings.NewReader(string(data))})
			must(err)
		},
		Unstage: func(h runstate.Handle) {
			for _, u := range st.uploads(t, key(h.Name)) {
				_, err := st.client.AbortMultipartUpload(t.Context(), &awss3.AbortMultipartUploadInput{Bucket: aws.String(st.bucket), Key: aws.String(key(h.Name)), UploadId: aws.String(u)})
				must(err)
			}
		},
		Deny: steer.deny,
		Hold: steer.hold,
	}
}

// objects are the objects below a prefix, by what of their keys comes after it.
func (st *store) objects(t *testing.T, prefix string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	pages := awss3.NewListObjectsV2Paginator(st.client, &awss3.ListObjectsV2Input{Bucket: aws.String(st.bucket), Prefix: aws.String(prefix + "/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			out, err := st.client.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(st.bucket), Key: o.Key})
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(out.Body)
			if err := errors.Join(err, out.Body.Close()); err != nil {
				t.Fatal(err)
			}
			found[strings.TrimPrefix(*o.Key, prefix+"/")] = data
		}
	}
	return found
}

// visible is what a reader sees that lists a prefix, and takes a name that begins with a dot for hidden.
func (st *store) visible(t *testing.T, prefix string) map[string][]byte {
	t.Helper()
	found := st.objects(t, prefix)
	for name := range found {
		if strings.HasPrefix(name, stage.Hidden+"/") {
			delete(found, name)
		}
	}
	return found
}

// staged is whatever is there and not for readers, but the id and notes.
func (st *store) staged(t *testing.T, prefix string) []string {
	t.Helper()
	found := st.uploads(t, prefix+"/")
	for name := range st.objects(t, prefix) {
		base := path.Base(name)
		if strings.HasPrefix(name, stage.Hidden+"/") && base != "id" && !strings.HasPrefix(base, "key-") {
			found = append(found, name)
		}
	}
	return found
}

// uploads gives the ids of the open uploads whose keys begin with a prefix.
func (st *store) uploads(t *testing.T, prefix string) (ids []string) {
	t.Helper()
	if st.fake != nil { // which may be told not to list them
		for _, u := range st.fake.Uploads(st.bucket) {
			if strings.HasPrefix(u.Key, prefix) {
				ids = append(ids, u.ID)
			}
		}
		return ids
	}
	out, err := st.client.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: aws.String(st.bucket), Prefix: aws.String(prefix)})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range out.Uploads {
		ids = append(ids, *u.UploadId)
	}
	return ids
}

// steering is what the laws make of a sink's requests.
type steering struct {
	mu       sync.Mutex
	denied   bool
	entered  chan struct{}
	released chan struct{}
}

func (s *steering) deny(deny bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = deny
}

func (s *steering) hold() (<-chan struct{}, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entered, s.released = make(chan struct{}), make(chan struct{})
	return s.entered, sync.OnceFunc(func() { close(s.released) })
}

func (s *steering) around(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		denied, entered, released := s.denied, s.entered, s.released
		completes := r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
		if completes {
			s.entered = nil
		}
		s.mu.Unlock()
		if denied && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			return answer(r, http.StatusForbidden, "AccessDenied"), nil
		}
		if completes && entered != nil {
			close(entered)
			<-released
		}
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is an error as stores give it.
func answer(r *http.Request, status int, code string) *http.Response {
	body := fmt.Sprintf("<Error><Code>%s</Code><Message>on purpose</Message></Error>", code)
	if r.Method == http.MethodHead {
		body = ""
	}
	return &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/xml"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}
}
