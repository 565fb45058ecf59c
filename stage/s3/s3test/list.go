package s3test

import (
	"encoding/base64"
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

type prefixXML struct{ Prefix string }

type contentsXML struct {
	Key               string
	LastModified      string
	ETag              string
	Size              int
	StorageClass      string
	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
}

type listXML struct {
	XMLName                                  xml.Name `xml:"ListBucketResult"`
	Xmlns                                    string   `xml:"xmlns,attr"`
	Name, Prefix                             string
	Delimiter, EncodingType                  string `xml:",omitempty"`
	KeyCount, MaxKeys                        int
	IsTruncated                              bool
	StartAfter                               string `xml:",omitempty"`
	ContinuationToken, NextContinuationToken string `xml:",omitempty"`
	Contents                                 []contentsXML
	CommonPrefixes                           []prefixXML
}

// limit reads a number of a query that says how much a page holds.
func (c *call) limit(name string) (int, error) {
	if !c.query.Has(name) {
		return 1000, nil
	}
	n, err := strconv.Atoi(c.query.Get(name))
	if err != nil || n < 0 {
		return 0, invalidArgument("Provided %s not an integer or within integer range", name)
	}
	return min(n, 1000), nil
}

// coded writes a key as encoding-type asks for.
func (c *call) coded(key string) string {
	if c.query.Get("encoding-type") == "url" {
		return escape(key, true)
	}
	return key
}

// group cuts a key behind the first delimiter that follows the prefix, if there is one.
func group(key, prefix, delimiter string) (string, bool) {
	if delimiter == "" {
		return key, false
	}
	head, _, found := strings.Cut(key[len(prefix):], delimiter)
	if !found {
		return key, false
	}
	return prefix + head + delimiter, true
}

func (s *Server) listObjects(c *call) (answer, error) {
	q := c.query
	room, err := c.limit("max-keys")
	if err != nil {
		return answer{}, err
	}
	token, err := base64.URLEncoding.DecodeString(q.Get("continuation-token"))
	if err != nil || q.Has("continuation-token") && len(token) == 0 {
		return answer{}, invalidArgument("The continuation token provided is incorrect")
	}
	x := listXML{Xmlns: namespace, Name: c.bucket, Prefix: c.coded(q.Get("prefix")), Delimiter: c.coded(q.Get("delimiter")),
		EncodingType: q.Get("encoding-type"), MaxKeys: room, StartAfter: c.coded(q.Get("start-after")), ContinuationToken: q.Get("continuation-token")}
	b, last, lastIsGroup := s.buckets[c.bucket], "", false
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		o := b.current(key)
		if o == nil || !strings.HasPrefix(key, q.Get("prefix")) {
			continue
		}
		name, isGroup := group(key, q.Get("prefix"), q.Get("delimiter"))
		if key <= q.Get("start-after") || name <= string(token) || isGroup && lastIsGroup && name == last {
			continue
		}
		if x.KeyCount == room {
			x.IsTruncated = room > 0
			break
		}
		x.KeyCount++
		last, lastIsGroup = name, isGroup
		if isGroup {
			x.CommonPrefixes = append(x.CommonPrefixes, prefixXML{c.coded(name)})
		} else {
			x.Contents = append(x.Contents, contentsOf(c.coded(key), o))
		}
	}
	if x.IsTruncated {
		x.NextContinuationToken = base64.URLEncoding.EncodeToString([]byte(last))
	}
	return answerXML(http.StatusOK, x), nil
}

func contentsOf(key string, o *object) contentsXML {
	x := contentsXML{Key: key, LastModified: xmlTime(o.modified), ETag: quote(o.etag), Size: len(o.data), StorageClass: "STANDARD"}
	if class := o.header.Get("X-Amz-Storage-Class"); class != "" {
		x.StorageClass = class
	}
	if o.sum.algorithm != nil {
		x.ChecksumAlgorithm, x.ChecksumType = o.sum.name, o.sum.kind
	}
	return x
}
