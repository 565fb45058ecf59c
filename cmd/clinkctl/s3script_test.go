package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/rogpeppe/go-internal/testscript"
)

var realBuckets atomic.Int64

// TestS3Scripts runs scripts on a real object store, each with a bucket of its own, $BUCKET.
func TestS3Scripts(t *testing.T) {
	endpoint := os.Getenv("CLINKCTL_TEST_S3")
	if endpoint == "" {
		t.Skip(`CLINKCTL_TEST_S3 names no object store: eval "$(scripts/services/versitygw start DIR)"`)
	}
	access, secret := os.Getenv("CLINKCTL_TEST_S3_ACCESS_KEY"), os.Getenv("CLINKCTL_TEST_S3_SECRET_KEY")
	client := awss3.New(awss3.Options{BaseEndpoint: aws.String(endpoint), Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(access, secret, "")})
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/s3",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			name := fmt.Sprintf("s%d-%d-%d", os.Getpid(), time.Now().UnixNano(), realBuckets.Add(1))
			if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(name)}); err != nil {
				return err
			}
			for k, v := range map[string]string{"BUCKET": name, "ENDPOINT": endpoint, "AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": access,
				"AWS_SECRET_ACCESS_KEY": secret, "AWS_EC2_METADATA_DISABLED": "true", "CLINKCTL_STATE": filepath.Join(env.WorkDir, "state"),
				"HOME": env.WorkDir, "BEAT": "100ms", "GORACE": "atexit_sleep_ms=0"} {
				env.Setenv(k, v)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "run-token": cmdRunToken,
			"put-object":    func(ts *testscript.TestScript, _ bool, args []string) { cmdPutObject(ts, client, args) },
			"objects":       func(ts *testscript.TestScript, _ bool, args []string) { cmdObjects(ts, client, args) },
			"abort-uploads": func(ts *testscript.TestScript, _ bool, args []string) { cmdAbortUploads(ts, client, args) },
		},
	})
}

// cmdPutObject puts a text behind the program's back: put-object KEY TEXT.
func cmdPutObject(ts *testscript.TestScript, client *awss3.Client, args []string) {
	_, err := client.PutObject(context.Background(), &awss3.PutObjectInput{Bucket: aws.String(ts.Getenv("BUCKET")), Key: aws.String(args[0]), Body: strings.NewReader(args[1])})
	ts.Check(err)
}

// cmdObjects prints keys and sizes below a prefix: objects PREFIX.
func cmdObjects(ts *testscript.TestScript, client *awss3.Client, args []string) {
	out, err := client.ListObjectsV2(context.Background(), &awss3.ListObjectsV2Input{Bucket: aws.String(ts.Getenv("BUCKET")), Prefix: aws.String(args[0])})
	ts.Check(err)
	for _, o := range out.Contents {
		_, _ = fmt.Fprintf(ts.Stdout(), "%s %d\n", aws.ToString(o.Key), aws.ToInt64(o.Size))
	}
	uploads, err := client.ListMultipartUploads(context.Background(), &awss3.ListMultipartUploadsInput{Bucket: aws.String(ts.Getenv("BUCKET")), Prefix: aws.String(args[0])})
	ts.Check(err)
	for _, u := range uploads.Uploads {
		_, _ = fmt.Fprintf(ts.Stdout(), "upload of %s\n", aws.ToString(u.Key))
	}
}

// cmdAbortUploads aborts all uploads behind the program's back: abort-uploads PREFIX.
func cmdAbortUploads(ts *testscript.TestScript, client *awss3.Client, args []string) {
	uploads, err := client.ListMultipartUploads(context.Background(), &awss3.ListMultipartUploadsInput{Bucket: aws.String(ts.Getenv("BUCKET")), Prefix: aws.String(args[0])})
	ts.Check(err)
	if len(uploads.Uploads) == 0 {
		ts.Fatalf("there is no upload to abort")
	}
	for _, u := range uploads.Uploads {
		_, err := client.AbortMultipartUpload(context.Background(), &awss3.AbortMultipartUploadInput{Bucket: aws.String(ts.Getenv("BUCKET")), Key: u.Key, UploadId: u.UploadId})
		ts.Check(err)
	}
}
