package s3test

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Object is what is at a key.
type Object struct {
	Data       []byte
	ETag       string // without quotes
	Version    string // "" where the bucket has none
	Modified   time.Time
	Metadata   map[string]string // by the name behind x-amz-meta-, in lower case
	Header     http.Header       // content type, storage class, encryption, x-amz-meta-*
	Tags       url.Values
	Parts      []int  // their sizes; nil for one that was not uploaded in parts
	Checksum   string // as in x-amz-checksum-*; "" for none
	Algorithm  string // of Checksum
	FullObject bool   // Checksum is of the bytes
}

// Object gives what is at a key now, past all switches.
func (s *Server) Object(bucket, key string) (Object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[bucket]
	if b == nil || b.current(key) == nil {
		return Object{}, false
	}
	o := b.current(key)
	out := Object{Data: slices.Clone(o.data), ETag: o.etag, Modified: o.modified, Metadata: map[string]string{}, Header: o.header.Clone(),
		Tags: maps.Clone(o.tags), Parts: slices.Clone(o.parts), Checksum: o.sum.value, FullObject: o.sum.kind == fullObject}
	if o.sum.algorithm != nil {
		out.Algorithm = o.sum.name
	}
	if b.versioning != "" {
		out.Version = o.version
	}
	for name := range o.header {
		if meta, ok := strings.CutPrefix(name, "X-Amz-Meta-"); ok {
			out.Metadata[strings.ToLower(meta)] = o.header.Get(name)
		}
	}
	return out, true
}

// PutObject puts an object into a bucket that exists, behind the client's back. It may have metadata.
func (s *Server) PutObject(bucket, key string, data []byte, metadata map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[bucket]
	data = slices.Clone(data)
	o := &object{version: s.newVersion(b), data: data, etag: etagOf(data), modified: s.now(), sum: checksum{crc64nvme, crc64nvme.sum(data), fullObject},
		header: http.Header{"Content-Type": {"binary/octet-stream"}, "X-Amz-Server-Side-Encryption": {"AES256"}}}
	for name, value := range metadata {
		o.header.Set("X-Amz-Meta-"+name, value)
	}
	b.add(key, o)
}

// DeleteObject deletes what is at a key, with all its versions, behind the client's back.
func (s *Server) DeleteObject(bucket, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.buckets[bucket].objects, key)
}

// CorruptObject flips a bit of the newest version at a key, which exists and is not empty.
func (s *Server) CorruptObject(bucket, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.buckets[bucket].current(key)
	o.data = slices.Clone(o.data)
	o.data[len(o.data)/2] ^= 1
}

// Keys gives the keys of a bucket that have an object, sorted.
func (s *Server) Keys(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[bucket]
	var keys []string
	if b == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if b.current(key) != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// Upload is an upload that is open.
type Upload struct {
	Key, ID   string
	Initiated time.Time
	Options   http.Header // the headers of the request that created it, without Authorization
	Parts     map[int]int // sizes by number
}

// Uploads gives the open uploads of a bucket, by key and then by age, past all switches.
func (s *Server) Uploads(bucket string) []Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[bucket]
	if b == nil {
		return nil
	}
	var uploads []Upload
	for _, u := range b.uploads {
		out := Upload{Key: u.key, ID: u.id, Initiated: u.initiated, Options: u.options.Clone(), Parts: map[int]int{}}
		for number, parts := range u.parts {
			out.Parts[number] = len(parts[len(parts)-1].data)
		}
		uploads = append(uploads, out)
	}
	slices.SortFunc(uploads, func(a, b Upload) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID)) })
	return uploads
}

// ForgetUpload makes the store forget uploads of an id or a key, as a sweep does: open ones are gone, and that completed
// ones once were is not known any more. It says how many those were.
func (s *Server) ForgetUpload(bucket, idOrKey string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[bucket]
	forgotten := 0
	for _, uploads := range []map[string]*upload{b.uploads, b.completed} {
		maps.DeleteFunc(uploads, func(id string, u *upload) bool {
			match := id == idOrKey || u.key == idOrKey
			if match {
				forgotten++
			}
			return match
		})
	}
	return forgotten
}
