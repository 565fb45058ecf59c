package s3

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// scheme begins the addresses of this backend.
const scheme = "s3"

// address is a place in a bucket. Its text is s3://bucket/prefix, and the prefix is taken as it is written: nothing in it
// is escaped.
type address struct{ bucket, prefix string }

// bucketName is what S3 calls a bucket; some stores allow capitals and underscores, too.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$`)

// maxKey is the length of the longest key, in bytes, and room for the longest name that is put below a prefix.
const maxKey, maxName = 1024, 160

// parseAddress reads an address, without slashes at its end.
func parseAddress(text string) (address, error) {
	rest, ok := strings.CutPrefix(text, scheme+"://")
	if !ok {
		return address{}, fmt.Errorf("%q does not begin with %s://", text, scheme)
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	switch {
	case strings.Contains(bucket, "@"):
		return address{}, errors.New("an address has no user and no password: credentials are found as the AWS SDK does, from AWS_ACCESS_KEY_ID, a profile or a role")
	case !bucketName.MatchString(bucket):
		return address{}, fmt.Errorf("%q is not the name of a bucket: write s3://bucket/prefix, and the server with the option endpoint", bucket)
	case prefix != "" && path.Clean("/"+prefix) != "/"+prefix:
		return address{}, fmt.Errorf("the prefix %q has an empty element, or . or .. as one: many stores change such keys", prefix)
	case !utf8.ValidString(prefix) || strings.ContainsRune(prefix, 0):
		return address{}, fmt.Errorf("the prefix %q is not UTF-8", prefix)
	case len(prefix)+maxName > maxKey:
		return address{}, fmt.Errorf("the prefix has %d bytes, and can have %d: keys have %d", len(prefix), maxKey-maxName, maxKey)
	}
	return address{bucket, prefix}, nil
}

func (a address) String() string {
	return strings.TrimSuffix(scheme+"://"+a.bucket+"/"+a.prefix, "/")
}

// key is the key of what has a name below the address.
func (a address) key(name string) string {
	if a.prefix == "" {
		return name
	}
	return a.prefix + "/" + name
}

// name gives what a key is called below the address.
func (a address) name(key string) (string, bool) {
	if a.prefix == "" {
		return key, true
	}
	return strings.CutPrefix(key, a.prefix+"/")
}
