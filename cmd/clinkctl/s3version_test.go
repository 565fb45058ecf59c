package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// The manifest names the version of each artifact where the bucket keeps versions, and only there: also of those that were
// published by a process that died, and under a key, whose mark was made before there was any version.
func TestVersionsInManifest(t *testing.T) {
	for _, versioned := range []bool{false, true} {
		w := newS3World(t)
		client := awss3.New(awss3.Options{BaseEndpoint: aws.String(w.server.URL), Region: "us-east-1", UsePathStyle: true,
			Credentials: credentials.NewStaticCredentialsProvider(s3Access, s3Secret, "")})
		if versioned {
			_, err := client.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{Bucket: aws.String(bucket),
				VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.set(s3test.SlowDown, s3test.On{Verb: s3test.PutObject, Key: "_manifest"})
		w.run("--key", "k").exits(3, w.resumes())
		w.unset()
		w.resume().exits(0, "")
		w.exactlyOnce()
		for _, name := range w.names() {
			if !strings.HasPrefix(name, "_manifest") {
				continue
			}
			o, _ := w.store.Object(bucket, prefix+"/"+name)
			var m publish.Manifest
			if err := json.Unmarshal(o.Data, &m); err != nil {
				t.Fatal(err)
			}
			for _, a := range m.Artifacts {
				out, err := client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String(prefix + "/" + a.Name)})
				if err != nil || aws.ToString(out.VersionId) != a.Version || versioned != (a.Version != "") {
					t.Errorf("versions %t: the manifest has %q of %s, %v", versioned, a.Version, a.Name, err)
				}
			}
		}
	}
}
