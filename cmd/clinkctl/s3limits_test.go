package main

import (
	"net/http"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B17 and B19: a store that gives up what is staged before its run is carried on.

func TestB17MinIOSweepsAfterADay(t *testing.T) {
	w := newS3World(t)
	w.around = func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err == nil {
				answer.Header.Set("Server", "MinIO")
			}
			return answer, err
		})
	}
	plan := w.plan
	w.plan = append(plan, "max_downtime: 36h")
	w.run().exits(64, "").says("24h", "MinIO", "holds")
	w.noUploads()
	w.options["holds"] = "72h"
	w.run().exits(0, "")
	w.exactlyOnce()
}

func TestB19RuleOfADay(t *testing.T) {
	w := newS3World(t)
	w.store.SetLifecycle(bucket, s3test.LifecycleRule{ID: "tidy", Prefix: "ou", AbortIncompleteAfter: 1})
	plan := w.plan
	w.plan = append(plan, "max_downtime: 36h")
	w.run().exits(64, "").says("24h", `"tidy"`, "max_downtime")
	w.noUploads()
	w.plan = plan
	w.run().exits(0, "")
	w.exactlyOnce()
}
