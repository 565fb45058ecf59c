package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Each option is seen in the requests that it is about.

// Verbs by what they do.
var (
	onObjects = []s3test.Verb{s3test.HeadObject, s3test.GetObject, s3test.PutObject, s3test.CreateMultipartUpload, s3test.UploadPart,
		s3test.ListParts, s3test.CompleteMultipartUpload}
	onBucket = []s3test.Verb{s3test.ListObjectsV2, s3test.ListMultipartUploads}
	onMaking = []s3test.Verb{s3test.PutObject, s3test.CreateMultipartUpload}
	onUpload = []s3test.Verb{s3test.CreateMultipartUpload}
	onAll    = append(append([]s3test.Verb{s3test.AbortMultipartUpload}, onObjects...), onBucket...)
)

// header is an option that is a header of requests.
type header struct {
	option, value string
	name, want    string
	on            []s3test.Verb // every request of these has it, and of no others
}

func headers() []header {
	return []header{
		{"requester_pays", "true", "X-Amz-Request-Payer", "requester", onAll},
		{"bucket_owner", `"123456789012"`, "X-Amz-Expected-Bucket-Owner", "123456789012", append([]s3test.Verb{s3test.GetBucketLifecycleConfiguration}, onAll...)},
		{"storage_class", "STANDARD_IA", "X-Amz-Storage-Class", "STANDARD_IA", onUpload},
		{"acl", "bucket-owner-full-control", "X-Amz-Acl", "bucket-owner-full-control", onMaking},
		{"content_type", "text/plain", "Content-Type", "text/plain", onUpload},
		{"content_encoding", "identity", "Content-Encoding", "identity", onUpload},
		{"cache_control", "no-store", "Cache-Control", "no-store", onUpload},
		{"sse", "AES256", "X-Amz-Server-Side-Encryption", "AES256", onMaking},
		{"tags", "[Team=data, CostCenter=a b&c]", "X-Amz-Tagging", "CostCenter=a+b%26c&Team=data", onUpload},
		{"metadata", "[owner=nightly]", "X-Amz-Meta-Owner", "nightly", onUpload},
		{"checksum", "crc32c", "X-Amz-Checksum-Algorithm", "CRC32C", onUpload},
	}
}

func TestOptionsInHeaders(t *testing.T) {
	for _, h := range headers() {
		t.Run(h.option, func(t *testing.T) {
			w := newS3World(t)
			w.options[h.option] = h.value
			w.run("--key", "k").exits(0, "")
			w.exactlyOnce()
			w.carries(h)
		})
	}
}

// carries checks which requests have a header.
func (w *s3World) carries(h header) {
	w.t.Helper()
	seen := map[s3test.Verb]bool{}
	for _, r := range w.store.Requests() {
		got, want := r.Header.Get(h.name), ""
		if slices.Contains(h.on, r.Verb) {
			want = h.want
		}
		if got != want && (want != "" || got == h.want) {
			w.t.Errorf("%s of %s: %s is %q and not %q", r.Verb, r.Key, h.name, got, want)
		}
		seen[r.Verb] = true
	}
	for _, verb := range h.on {
		if !seen[verb] {
			w.t.Errorf("there was no %s", verb)
		}
	}
}

func TestOptionKMS(t *testing.T) {
	w := newS3World(t)
	w.options["sse"], w.options["kms_key"] = "aws:kms", "alias/lake"
	w.set(s3test.OpaqueETag, s3test.On{})
	w.run("--key", "k").exits(0, "")
	w.exactlyOnce()
	w.carries(header{"sse", "", "X-Amz-Server-Side-Encryption", "aws:kms", onMaking})
	w.carries(header{"kms_key", "", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id", "alias/lake", onMaking})
}

// A key of the user's own goes with every request about an object that has it, and with no other.
func TestOptionCustomerKey(t *testing.T) {
	for _, how := range []string{"base64", "raw", "file"} {
		t.Run(how, func(t *testing.T) {
			w := newS3World(t)
			w.options["ca"] = w.overTLS()
			w.options["customer_key"] = "env:SSE_KEY"
			const raw = " 0123456789abcdef0123456789abcd\n" // 32 bytes
			encoded := "IDAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZAo="
			switch how {
			case "base64":
				t.Setenv("SSE_KEY", encoded)
			case "raw":
				t.Setenv("SSE_KEY", raw)
			default:
				w.write("key", raw)
				w.options["customer_key"] = "file:" + w.path("key")
			}
			w.run("--key", "k").exits(0, "")
			w.exactlyOnce()
			w.carries(header{"customer_key", "", "X-Amz-Server-Side-Encryption-Customer-Algorithm", "AES256", onObjects})
			w.carries(header{"customer_key", "", "X-Amz-Server-Side-Encryption-Customer-Key", encoded, onObjects})
			w.carries(header{"customer_key", "", "X-Amz-Server-Side-Encryption-Customer-Key-Md5", "y9nZEe3p7RDEkguEzGIL4w==", onObjects})
		})
	}
}

// Tags and metadata are at the objects, and a store that keeps no tags is none that loses rows.
func TestOptionTagsAreKept(t *testing.T) {
	w := newS3World(t)
	w.options["tags"], w.options["metadata"] = "[Team=data]", "[owner=nightly]"
	w.run().exits(0, "")
	o, _ := w.store.Object(bucket, prefix+"/"+w.first().Name)
	if o.Tags.Get("Team") != "data" || o.Metadata["owner"] != "nightly" {
		t.Errorf("the object has the tags %v and the metadata %v", o.Tags, o.Metadata)
	}
	w.set(s3test.DropTags, s3test.On{})
	w.run("--key", "k").exits(0, "")
	w.unset()
}

// tested names the test of each option that is no header.
var tested = map[string]string{
	"endpoint": "every test", "region": "TestOptionRegion", "profile": "TestOptionProfile", "path_style": "TestOptionPathStyle",
	"part_size": "TestOptionPartSize", "parallel": "TestOptionParallel", "retries": "TestOptionRetries", "timeout": "TestOptionTimeout",
	"ca": "TestTLSIsVerified", "proxy": "TestProxyOfOption", "holds": "TestB17MinIOSweepsAfterADay", "kms_key": "TestOptionKMS",
	"customer_key": "TestOptionCustomerKey",
}

// No option is without its test: the program itself says which there are.
func TestEveryOptionIsTested(t *testing.T) {
	w := newS3World(t)
	w.options["qqqqqqqqqqqqqqqqqqqqqqqq"] = "x"
	e := w.run().exits(64, "")
	list := regexp.MustCompile(`there are ([a-z_, ]+)`).FindStringSubmatch(e.err)
	if list == nil {
		t.Fatalf("no list of options in %s", e.err)
	}
	for _, option := range strings.Split(list[1], ", ") {
		isHeader := slices.ContainsFunc(headers(), func(h header) bool { return h.option == option })
		if tested[option] == "" && !isHeader {
			t.Errorf("the option %s is in no test", option)
		}
	}
}

// seeing lets a function see every request as it leaves.
func seeing(see func(r *http.Request)) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			see(r)
			return next.RoundTrip(r)
		})
	}
}

func TestOptionRegion(t *testing.T) {
	for region, scope := range map[string]string{"eu-north-1": "/eu-north-1/s3/", "": "/us-east-1/s3/"} {
		t.Run(fmt.Sprint("region ", region), func(t *testing.T) {
			w := newS3World(t)
			if region != "" {
				w.options["region"] = region
			}
			w.around = seeing(func(r *http.Request) {
				if got := r.Header.Get("Authorization"); !strings.Contains(got, scope) {
					t.Errorf("%s is signed as %s", r.Method, got)
				}
			})
			w.run().exits(0, "")
		})
	}
}
