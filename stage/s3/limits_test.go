package s3_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Of the rules that abort uploads, those count that are on and whose keys ours can be, and the shortest of them (B19).
func TestB19Hold(t *testing.T) {
	day := 24 * time.Hour
	tests := []struct {
		name  string
		rules []s3test.LifecycleRule
		want  time.Duration
	}{
		{"no rules", nil, 0},
		{"whole bucket", []s3test.LifecycleRule{{ID: "all", AbortIncompleteAfter: 7}}, 7 * day},
		{"a prefix above ours", []s3test.LifecycleRule{{ID: "a", Prefix: "lake/", AbortIncompleteAfter: 1}, {ID: "b", AbortIncompleteAfter: 3}}, day},
		{"a prefix of our names", []s3test.LifecycleRule{{ID: "a", Prefix: "lake/orders/sub0-", AbortIncompleteAfter: 2}}, 2 * day},
		{"another prefix", []s3test.LifecycleRule{{ID: "a", Prefix: "tmp/", AbortIncompleteAfter: 1}}, 0},
		{"a rule that is off", []s3test.LifecycleRule{{ID: "a", Disabled: true, AbortIncompleteAfter: 1}}, 0},
		{"a rule about objects", []s3test.LifecycleRule{{ID: "a", ExpireAfter: 1}}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			st, fake := fakeStore(t)
			fake.SetLifecycle(st.bucket, test.rules...)
			got, err := limits(t, st, nil, nil)
			if err != nil || got.Hold != test.want || got.Hold != 0 && !strings.Contains(got.HoldBy, "lifecycle rule") {
				t.Fatalf("%+v, %v", got, err)
			}
		})
	}
}

func limits(t *testing.T, st *store, options map[string]any, around func(http.RoundTripper) http.RoundTripper) (stage.Limits, error) {
	t.Helper()
	s, err := s3.Backend(st.env(around)).Open(t.Context(), st.at("lake/orders", options), true)
	if err != nil {
		t.Fatal(err)
	}
	return s.(stage.Limited).Limits(t.Context())
}

// MinIO sweeps uploads after a day, and no rule of a bucket says so (B17, B18).
func TestB17HoldOfMinIO(t *testing.T) {
	st, _ := fakeStore(t)
	minio := func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			out, err := next.RoundTrip(r)
			if err == nil {
				out.Header.Set("Server", "MinIO")
			}
			return out, err
		})
	}
	if got, err := limits(t, st, nil, minio); err != nil || got.Hold != 24*time.Hour {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := limits(t, st, map[string]any{"holds": "168h"}, minio); err != nil || got.Hold != 168*time.Hour {
		t.Fatalf("%+v, %v", got, err)
	}
}

// A store that has no rules has none that aborts. One that does not say which it has is refused, unless the job says it.
func TestHoldUnknown(t *testing.T) {
	st, fake := fakeStore(t)
	fake.Set(s3test.Unsupported, s3test.On{Verb: s3test.GetBucketLifecycleConfiguration})
	if got, err := limits(t, st, nil, nil); err != nil || got.Hold != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	fake.Unset()
	fake.Set(s3test.Deny, s3test.On{Verb: s3test.GetBucketLifecycleConfiguration})
	if _, err := limits(t, st, nil, nil); !errors.Is(err, stage.ErrRefused) || !strings.Contains(err.Error(), "option holds") {
		t.Fatal(err)
	}
	if got, err := limits(t, st, map[string]any{"holds": "100h"}, nil); err != nil || got.Hold != 100*time.Hour {
		t.Fatalf("%+v, %v", got, err)
	}
	fake.Unset()
	fake.Set(s3test.SlowDown, s3test.On{Verb: s3test.GetBucketLifecycleConfiguration})
	if _, err := limits(t, st, map[string]any{"retries": 1}, nil); err == nil || errors.Is(err, stage.ErrRefused) {
		t.Fatal(err)
	}
}

// Credentials that end and are not renewed are told (B22); those that are renewed have no end.
func TestB22CredentialsEnd(t *testing.T) {
	st, _ := fakeStore(t)
	end := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	t.Setenv("AWS_CREDENTIAL_EXPIRATION", end.Format(time.RFC3339))
	if got, err := limits(t, st, nil, nil); err != nil || !got.Access.IsZero() {
		t.Fatalf("of keys that last: %+v, %v", got, err)
	}
	t.Setenv("AWS_SESSION_TOKEN", "a-session")
	st.fake.Rotate("AK", "SK", "a-session")
	if got, err := limits(t, st, nil, nil); err != nil || !got.Access.Equal(end) {
		t.Fatalf("%+v, %v", got, err)
	}
}
