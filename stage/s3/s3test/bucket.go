package s3test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// bucket is what is under one name.
type bucket struct {
	created    time.Time
	versioning string               // "", Enabled or Suspended
	objects    map[string][]*object // by key, the newest last
	uploads    map[string]*upload   // by id; those that are open
	completed  map[string]*upload   // by id
	lifecycle  []LifecycleRule
}

func newBucket(now time.Time) *bucket {
	return &bucket{created: now, objects: map[string][]*object{}, uploads: map[string]*upload{}, completed: map[string]*upload{}}
}

// LifecycleRule is a rule of a bucket, as far as uploads are concerned.
type LifecycleRule struct {
	ID                   string
	Prefix               string
	Disabled             bool
	AbortIncompleteAfter int // days; 0: never
	ExpireAfter          int // days; 0: never
}

// SetLifecycle sets the rules of a bucket that exists. Nothing acts on them: ForgetUpload does what they would.
func (s *Server) SetLifecycle(name string, rules ...LifecycleRule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets[name].lifecycle = rules
}

func (s *Server) listBuckets(*call) (answer, error) {
	type entry struct {
		Name         string
		CreationDate string
	}
	x := struct {
		XMLName xml.Name `xml:"ListAllMyBucketsResult"`
		Xmlns   string   `xml:"xmlns,attr"`
		Buckets []entry  `xml:"Buckets>Bucket"`
	}{Xmlns: namespace}
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		x.Buckets = append(x.Buckets, entry{name, xmlTime(s.buckets[name].created)})
	}
	return answerXML(http.StatusOK, x), nil
}

func (s *Server) createBucket(c *call) (answer, error) {
	if s.buckets[c.bucket] != nil {
		return answer{}, fail(http.StatusConflict, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.")
	}
	s.buckets[c.bucket] = newBucket(s.now())
	return answer{status: http.StatusOK, header: http.Header{"Location": {"/" + c.bucket}}}, nil
}

func (s *Server) headBucket(*call) (answer, error) {
	return answer{status: http.StatusOK, header: http.Header{"X-Amz-Bucket-Region": {s.region}}}, nil
}

func (s *Server) deleteBucket(c *call) (answer, error) {
	if len(s.buckets[c.bucket].objects) > 0 {
		return answer{}, fail(http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty")
	}
	delete(s.buckets, c.bucket)
	return answer{status: http.StatusNoContent}, nil
}

func (s *Server) getLocation(*call) (answer, error) {
	x := struct {
		XMLName xml.Name `xml:"LocationConstraint"`
		Region  string   `xml:",chardata"`
	}{Region: s.region}
	if x.Region == "us-east-1" {
		x.Region = ""
	}
	return answerXML(http.StatusOK, x), nil
}

type versioningXML struct {
	XMLName xml.Name `xml:"VersioningConfiguration"`
	Status  string   `xml:",omitempty"`
}

func (s *Server) getVersioning(c *call) (answer, error) {
	return answerXML(http.StatusOK, versioningXML{Status: s.buckets[c.bucket].versioning}), nil
}

func (s *Server) putVersioning(c *call) (answer, error) {
	var x versioningXML
	if xml.Unmarshal(c.body, &x) != nil || x.Status != "Enabled" && x.Status != "Suspended" {
		return answer{}, malformedXML()
	}
	s.buckets[c.bucket].versioning = x.Status
	return answer{status: http.StatusOK}, nil
}

type daysXML struct {
	Days  int `xml:"Days,omitempty"`
	After int `xml:"DaysAfterInitiation,omitempty"`
}

type lifecycleXML struct {
	ID         string
	Prefix     string `xml:"Filter>Prefix"`
	Status     string
	Abort      *daysXML `xml:"AbortIncompleteMultipartUpload"`
	Expiration *daysXML
}

func (s *Server) getLifecycle(c *call) (answer, error) {
	rules := s.buckets[c.bucket].lifecycle
	if len(rules) == 0 {
		return answer{}, fail(http.StatusNotFound, "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist")
	}
	x := struct {
		XMLName xml.Name       `xml:"LifecycleConfiguration"`
		Xmlns   string         `xml:"xmlns,attr"`
		Rules   []lifecycleXML `xml:"Rule"`
	}{Xmlns: namespace}
	for _, r := range rules {
		rule := lifecycleXML{ID: r.ID, Prefix: r.Prefix, Status: "Enabled"}
		if r.Disabled {
			rule.Status = "Disabled"
		}
		if r.AbortIncompleteAfter > 0 {
			rule.Abort = &daysXML{After: r.AbortIncompleteAfter}
		}
		if r.ExpireAfter > 0 {
			rule.Expiration = &daysXML{Days: r.ExpireAfter}
		}
		x.Rules = append(x.Rules, rule)
	}
	return answerXML(http.StatusOK, x), nil
}

// abortHeader says which rule will abort an upload: the first midnight UTC after its days.
func (b *bucket) abortHeader(u *upload, h http.Header) {
	for _, r := range b.lifecycle {
		if !r.Disabled && r.AbortIncompleteAfter > 0 && strings.HasPrefix(u.key, r.Prefix) {
			day := u.initiated.UTC().Add(time.Duration(r.AbortIncompleteAfter+1) * 24 * time.Hour).Truncate(24 * time.Hour)
			h.Set("X-Amz-Abort-Date", day.Format(http.TimeFormat))
			h.Set("X-Amz-Abort-Rule-Id", r.ID)
			return
		}
	}
}

func xmlTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// newVersion gives the id of the version that a write to the bucket makes.
func (s *Server) newVersion(b *bucket) string {
	if b.versioning != "Enabled" {
		return "null"
	}
	s.serial++
	return fmt.Sprintf("v%08d", s.serial)
}
