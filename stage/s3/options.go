package s3

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/stage"
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

// option is one option: where it belongs, what it does, and how it is read.
type option struct {
	name  string
	shape bool // it changes what objects are
	read  func(s *settings, v any) error
}

func text(to func(s *settings) *string, check func(string) error) func(*settings, any) error {
	return func(s *settings, v any) error {
		t, ok := v.(string)
		if n, isInt := v.(int); isInt {
			t, ok = strconv.Itoa(n), true
		}
		if !ok || t == "" {
			return fmt.Errorf("is %v, and must be a text", v)
		}
		*to(s) = t
		if check == nil {
			return nil
		}
		return check(t)
	}
}

func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(values, v) {
			return nil
		}
		return fmt.Errorf("is %q, and can be %s", v, strings.Join(values, ", "))
	}
}

func whole(to func(s *settings) *int, least, most int) func(*settings, any) error {
	return func(s *settings, v any) error {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %v, and must be a whole number from %d to %d", v, least, most)
		}
		*to(s) = n
		return nil
	}
}

func duration(to func(s *settings) *time.Duration) func(*settings, any) error {
	return func(s *settings, v any) error {
		d, err := time.ParseDuration(fmt.Sprint(v))
		if err != nil || d <= 0 {
			return fmt.Errorf("is %v, and must be a duration with its unit: 30s, 5m, 168h", v)
		}
		*to(s) = d
		return nil
	}
}

// pairs reads names with their values. They are a list of texts: the names of a mapping lose their capitals on the way here.
func pairs(to func(s *settings) *map[string]string) func(*settings, any) error {
	return func(s *settings, v any) error {
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("is %v, and must be a list of name=value: [CostCenter=42, Team=data]", v)
		}
		out := map[string]string{}
		for _, x := range list {
			name, value, ok := strings.Cut(fmt.Sprint(x), "=")
			if _, isText := x.(string); !isText || !ok || name == "" {
				return fmt.Errorf("has %v, and must be a list of name=value: [CostCenter=42, Team=data]", x)
			}
			if _, twice := out[name]; twice {
				return fmt.Errorf("has %s twice", name)
			}
			out[name] = value
		}
		*to(s) = out
		return nil
	}
}

func truth(v any) (bool, error) {
	b, err := strconv.ParseBool(fmt.Sprint(v))
	if err != nil {
		return false, fmt.Errorf("is %v, and must be true or false", v)
	}
	return b, nil
}

// options are all options there are.
func options() []option {
	return []option{
		{"endpoint", false, text(func(s *settings) *string { return &s.endpoint }, checkURL)},
		{"region", false, text(func(s *settings) *string { return &s.region }, nil)},
		{"profile", false, text(func(s *settings) *string { return &s.profile }, nil)},
		{"path_style", false, func(s *settings, v any) error {
			b, err := truth(v)
			s.pathStyle = strconv.FormatBool(b)
			return err
		}},
		{"checksum", false, text(func(s *settings) *string { return &s.checksum }, oneOf("auto", "none", "crc32c", "crc64nvme", "sha256"))},
		{"part_size", false, func(s *settings, v any) (err error) {
			s.partSize, err = parsePartSize(v)
			return err
		}},
		{"parallel", false, whole(func(s *settings) *int { return &s.parallel }, 1, 64)},
		{"retries", false, whole(func(s *settings) *int { return &s.retries }, 1, 100)},
		{"timeout", false, duration(func(s *settings) *time.Duration { return &s.timeout })},
		{"ca", false, text(func(s *settings) *string { return &s.ca }, nil)},
		{"proxy", false, text(func(s *settings) *string { return &s.proxy }, checkURL)},
		{"holds", false, duration(func(s *settings) *time.Duration { return &s.holds })},
		{"requester_pays", false, func(s *settings, v any) (err error) {
			s.requester, err = truth(v)
			return err
		}},
		{"bucket_owner", false, text(func(s *settings) *string { return &s.owner }, checkAccount)},
		{"storage_class", true, text(func(s *settings) *string { return &s.class }, nil)},
		{"acl", true, text(func(s *settings) *string { return &s.acl }, nil)},
		{"content_type", true, text(func(s *settings) *string { return &s.contentType }, nil)},
		{"content_encoding", true, text(func(s *settings) *string { return &s.contentEncoding }, nil)},
		{"cache_control", true, text(func(s *settings) *string { return &s.cacheControl }, nil)},
		{"sse", true, text(func(s *settings) *string { return &s.sse }, oneOf("AES256", "aws:kms", "aws:kms:dsse"))},
		{"kms_key", true, text(func(s *settings) *string { return &s.kmsKey }, nil)},
		{"customer_key", true, text(func(s *settings) *string { return &s.customerKey }, checkReference)},
		{"tags", true, pairs(func(s *settings) *map[string]string { return &s.tags })},
		{"metadata", true, pairs(func(s *settings) *map[string]string { return &s.metadata })},
	}
}

var account = regexp.MustCompile(`^[0-9]{12}$`)

func checkAccount(v string) error {
	if !account.MatchString(v) {
		return fmt.Errorf("is %q, and must be an account's id of 12 digits", v)
	}
	return nil
}

// checkURL refuses what is no address of a server, and secrets in one: it is journaled.
func checkURL(v string) error {
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("is no address of a server: write https://host:port")
	case u.User != nil:
		return errors.New("has a user or password in it, and would be journaled: give a proxy's in HTTPS_PROXY")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("has a query or fragment: write https://host:port")
	}
	return nil
}

// checkReference refuses a secret that is written out: it would be journaled.
func checkReference(v string) error {
	if strings.HasPrefix(v, "env:") || strings.HasPrefix(v, "file:/") {
		return nil
	}
	return errors.New("must say where the key is, env:NAME or file:/path: a key that is written out would be journaled")
}

// parsePartSize reads a size in MiB, GiB or plain bytes.
func parsePartSize(v any) (int64, error) {
	t := fmt.Sprint(v)
	unit := int64(1)
	for suffix, u := range map[string]int64{"MiB": mib, "GiB": 1 << 30, "KiB": 1 << 10} {
		if n, ok := strings.CutSuffix(t, suffix); ok {
			t, unit = strings.TrimSpace(n), u
		}
	}
	n, err := strconv.ParseInt(t, 10, 64)
	switch {
	case err != nil && strings.HasSuffix(t, "B"):
		return 0, fmt.Errorf("is %v: sizes of parts are in MiB, of 1,048,576 bytes, since a store refuses parts under 5 MiB only when all are there, and 5MB is less: write 5MiB or more", v)
	case err != nil || n <= 0 || n > maxPart/unit:
		return 0, fmt.Errorf("is %v, and must be from 5MiB to 5GiB", v)
	case n*unit < minPart:
		return 0, fmt.Errorf("is %v, and must be at least 5MiB (5,242,880 bytes): a store refuses smaller parts, and only when all are there", v)
	}
	return n * unit, nil
}

// read reads options, all that is wrong with them at once.
func read(given map[string]any) (settings, error) {
	s := settings{pathStyle: "auto", checksum: "auto", partSize: defaultPart, parallel: defaultParallel, retries: defaultRetries, timeout: defaultTimeout}
	all := options()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(all, func(o option) bool { return o.name == name })
		if i < 0 {
			errs = append(errs, unknownOption(name, all))
			continue
		}
		if err := all[i].read(&s, given[name]); err != nil {
			errs = append(errs, fmt.Errorf("s3 option %s %w", name, err))
		}
	}
	return s, errors.Join(append(errs, s.check())...)
}

func unknownOption(name string, all []option) error {
	var names []string
	for _, o := range all {
		names = append(names, o.name)
	}
	if near := format.Nearest(name, names); near != "" {
		return fmt.Errorf("s3 option %s is not known; did you mean %s?", name, near)
	}
	return fmt.Errorf("s3 option %s is not known: there are %s", name, strings.Join(names, ", "))
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
	reach, shape := map[string]any{}, map[string]any{}
	for _, o := range options() {
		v, ok := given[o.name]
		switch {
		case ok && o.shape:
			shape[o.name] = v
		case ok:
			reach[o.name] = v
		}
	}
	needed := (checkpoint/maxParts*growth/mib + 1) * mib
	if given["part_size"] == nil && needed > defaultPart {
		reach["part_size"] = fmt.Sprintf("%dMiB", min(needed, maxPart)/mib)
	}
	return stage.Place{To: at.String(), Reach: reach, Shape: shape}, nil
}

// settingsOf reads the options of a destination in a plan.
func settingsOf(at stage.Place) (settings, error) {
	all := maps.Clone(at.Reach)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, at.Shape)
	return read(all)
}
