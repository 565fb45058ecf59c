package s3

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/options"
)

// Limits of S3: sizes in bytes. https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
const (
	minPart  = 5 << 20
	maxPart  = 5 << 30
	maxParts = 10_000
	mib      = 1 << 20
)

// Defaults.
const (
	defaultPart     = 8 << 20 // bytes
	defaultParallel = 4
	defaultRetries  = 5
	defaultTimeout  = 5 * time.Minute
	// growth is how many times larger than its source an artifact may become before its parts run out: parts of one
	// artifact are equal, so that their size is chosen before anything is written.
	growth = 20
)

// settings are the options of a destination, read.
type settings struct {
	// How the store is reached, and how fast: nothing of this changes what is written.
	endpoint, region, profile string
	pathStyle                 string // auto, true, false
	checksum                  string // auto, none, crc32c, crc64nvme, sha256
	partSize                  int64  // bytes
	parallel                  int    // parts on their way at once, of all writers of a sink
	retries                   int    // tries of a request
	timeout                   time.Duration
	ca, proxy                 string
	holds                     time.Duration // 0: ask the store
	requester                 bool
	owner                     string // account id
	// What objects carry.
	class, acl, contentType, contentEncoding, cacheControl string
	sse, kmsKey, customerKey                               string
	tags, metadata                                         map[string]string
}

// knownOptions are all options there are.
func knownOptions() []options.Option[settings] {
	return []options.Option[settings]{
		{Name: "endpoint", Read: options.Text(func(s *settings) *string { return &s.endpoint }, options.CheckURL)},
		{Name: "region", Read: options.Text(func(s *settings) *string { return &s.region }, nil)},
		{Name: "profile", Read: options.Text(func(s *settings) *string { return &s.profile }, nil)},
		{Name: "path_style", Read: func(s *settings, v any) error {
			var b bool
			err := options.Truth(func(*settings) *bool { return &b })(s, v)
			s.pathStyle = strconv.FormatBool(b)
			return err
		}},
		{Name: "checksum", Read: options.Text(func(s *settings) *string { return &s.checksum }, options.OneOf("auto", "none", "crc32c", "crc64nvme", "sha256"))},
		{Name: "part_size", Read: func(s *settings, v any) (err error) {
			s.partSize, err = parsePartSize(v)
			return err
		}},
		{Name: "parallel", Read: options.Whole(func(s *settings) *int { return &s.parallel }, 1, 64)},
		{Name: "retries", Read: options.Whole(func(s *settings) *int { return &s.retries }, 1, 100)},
		{Name: "timeout", Read: options.Duration(func(s *settings) *time.Duration { return &s.timeout })},
		{Name: "ca", Read: options.Text(func(s *settings) *string { return &s.ca }, nil)},
		{Name: "proxy", Read: options.Text(func(s *settings) *string { return &s.proxy }, options.CheckURL)},
		{Name: "holds", Read: options.Duration(func(s *settings) *time.Duration { return &s.holds })},
		{Name: "requester_pays", Read: options.Truth(func(s *settings) *bool { return &s.requester })},
		{Name: "bucket_owner", Read: options.Text(func(s *settings) *string { return &s.owner }, checkAccount)},
		{Name: "storage_class", Shape: true, Read: options.Text(func(s *settings) *string { return &s.class }, nil)},
		{Name: "acl", Shape: true, Read: options.Text(func(s *settings) *string { return &s.acl }, nil)},
		{Name: "content_type", Shape: true, Read: options.Text(func(s *settings) *string { return &s.contentType }, nil)},
		{Name: "content_encoding", Shape: true, Read: options.Text(func(s *settings) *string { return &s.contentEncoding }, nil)},
		{Name: "cache_control", Shape: true, Read: options.Text(func(s *settings) *string { return &s.cacheControl }, nil)},
		{Name: "sse", Shape: true, Read: options.Text(func(s *settings) *string { return &s.sse }, options.OneOf("AES256", "aws:kms", "aws:kms:dsse"))},
		{Name: "kms_key", Shape: true, Read: options.Text(func(s *settings) *string { return &s.kmsKey }, nil)},
		{Name: "customer_key", Shape: true, Read: options.Text(func(s *settings) *string { return &s.customerKey }, options.CheckReference)},
		{Name: "tags", Shape: true, Read: options.Pairs(func(s *settings) *map[string]string { return &s.tags }, "[CostCenter=42, Team=data]")},
		{Name: "metadata", Shape: true, Read: options.Pairs(func(s *settings) *map[string]string { return &s.metadata }, "[CostCenter=42, Team=data]")},
	}
}

var account = regexp.MustCompile(`^[0-9]{12}$`)

func checkAccount(v string) error {
	if !account.MatchString(v) {
		return fmt.Errorf("is %q, and must be an account's id of 12 digits", v)
	}
	return nil
}

// parsePartSize reads a size in MiB, GiB or plain bytes.
func parsePartSize(v any) (int64, error) {
	n, err := options.ParseSize(v, maxPart)
	switch {
	case err != nil && strings.HasSuffix(fmt.Sprint(v), "B") && !strings.HasSuffix(fmt.Sprint(v), "iB"):
		return 0, fmt.Errorf("is %v: sizes of parts are in MiB, of 1,048,576 bytes, since a store refuses parts under 5 MiB only when all are there, and 5MB is less: write 5MiB or more", v)
	case err != nil:
		return 0, fmt.Errorf("is %v, and must be from 5MiB to 5GiB", v)
	case n < minPart:
		return 0, fmt.Errorf("is %v, and must be at least 5MiB (5,242,880 bytes): a store refuses smaller parts, and only when all are there", v)
	}
	return n, nil
}

// read reads options, all that is wrong with them at once.
func read(given map[string]any) (settings, error) {
	s := settings{pathStyle: "auto", checksum: "auto", partSize: defaultPart, parallel: defaultParallel, retries: defaultRetries, timeout: defaultTimeout}
	err := options.Read(scheme, knownOptions(), given, &s)
	return s, errors.Join(err, s.check())
}

// check compares options with each other.
func (s settings) check() error {
	var errs []error
	if s.kmsKey != "" && !strings.HasPrefix(s.sse, "aws:kms") {
		errs = append(errs, errors.New("s3 option kms_key needs sse: aws:kms"))
	}
	if s.customerKey != "" && s.sse != "" {
		errs = append(errs, errors.New("s3 option customer_key is another encryption than sse: give one of them"))
	}
	for name := range s.metadata {
		if strings.HasPrefix(strings.ToLower(name), metaPrefix) || !isToken(name) {
			errs = append(errs, fmt.Errorf("s3 option metadata has %q, which cannot be the name of a header, or is one of ours (%s...)", name, metaPrefix))
		}
	}
	if len(s.tags) > 10 {
		errs = append(errs, errors.New("s3 option tags has more than 10, which S3 allows"))
	}
	return errors.Join(errs...)
}

// isToken tells whether a text can be in the name of a header.
func isToken(name string) bool {
	return name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// expand checks what a job says of a destination, and fills in what depends on the job: parts are as large as it takes for
// a checkpoint of so many bytes of source to fit into 10,000 of them.
func expand(to string, given map[string]any, checkpoint int64) (stage.Place, error) {
	at, err := parseAddress(to)
	_, optionsErr := read(given)
	if err := errors.Join(err, optionsErr); err != nil {
		return stage.Place{}, err
	}
	reach, shape := options.Split(knownOptions(), given)
	needed := (checkpoint/maxParts*growth/mib + 1) * mib
	if given["part_size"] == nil && needed > defaultPart {
		reach["part_size"] = fmt.Sprintf("%dMiB", min(needed, maxPart)/mib)
	}
	return stage.Place{To: at.String(), Reach: reach, Shape: shape}, nil
}

// settingsOf reads the options of a destination in a plan.
func settingsOf(at stage.Place) (settings, error) {
	return read(options.Join(at.Reach, at.Shape))
}
