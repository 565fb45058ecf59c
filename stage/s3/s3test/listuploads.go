package s3test

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
)

type personXML struct{ ID, DisplayName string }

type uploadXML struct {
	Key               string
	UploadID          string `xml:"UploadId"`
	Initiator, Owner  personXML
	StorageClass      string
	Initiated         string
	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
}

type uploadsXML struct {
	XMLName                 xml.Name `xml:"ListMultipartUploadsResult"`
	Xmlns                   string   `xml:"xmlns,attr"`
	Bucket                  string
	KeyMarker               string
	UploadIDMarker          string `xml:"UploadIdMarker"`
	NextKeyMarker           string `xml:",omitempty"`
	NextUploadIDMarker      string `xml:"NextUploadIdMarker,omitempty"`
	Prefix                  string
	Delimiter, EncodingType string `xml:",omitempty"`
	MaxUploads              int
	IsTruncated             bool
	Upload                  []uploadXML
	CommonPrefixes          []prefixXML
}

// listed gives the open uploads that a list is of, by key and then by age.
func (s *Server) listed(c *call) []*upload {
	prefix := c.query.Get("prefix")
	var uploads []*upload
	for _, u := range s.buckets[c.bucket].uploads {
		if !u.taken && strings.HasPrefix(u.key, prefix) {
			uploads = append(uploads, u)
		}
	}
	other := func(u *upload) bool { return u.key != prefix }
	if slices.ContainsFunc(uploads, other) && s.fires(ListUploadsByExactKeyOnly, c) != nil {
		uploads = slices.DeleteFunc(uploads, other)
	}
	if len(uploads) > 0 && s.fires(ListUploadsNothing, c) != nil {
		return nil
	}
	slices.SortFunc(uploads, func(a, b *upload) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	return uploads
}

func (s *Server) listUploads(c *call) (answer, error) {
	q := c.query
	room, err := c.limit("max-uploads")
	if err != nil {
		return answer{}, err
	}
	marker, idMarker := q.Get("key-marker"), q.Get("upload-id-marker")
	if idMarker != "" && s.fires(RefuseUploadMarker, c) != nil {
		return answer{}, invalidArgument("Invalid uploadId marker")
	}
	x := uploadsXML{Xmlns: namespace, Bucket: c.bucket, KeyMarker: c.coded(marker), UploadIDMarker: idMarker, Prefix: c.coded(q.Get("prefix")),
		Delimiter: c.coded(q.Get("delimiter")), EncodingType: q.Get("encoding-type"), MaxUploads: room}
	last, n := "", 0
	for _, u := range s.listed(c) {
		name, isGroup := group(u.key, q.Get("prefix"), q.Get("delimiter"))
		before := u.key < marker || u.key == marker && (idMarker == "" || u.id <= idMarker)
		if before || isGroup && (name == last || name <= marker) {
			continue
		}
		if n == room {
			x.IsTruncated = room > 0
			break
		}
		n++
		x.NextKeyMarker, x.NextUploadIDMarker = c.coded(u.key), u.id
		if isGroup {
			last = name
			x.NextKeyMarker, x.NextUploadIDMarker = c.coded(name), ""
			x.CommonPrefixes = append(x.CommonPrefixes, prefixXML{c.coded(name)})
			continue
		}
		x.Upload = append(x.Upload, c.uploadXML(u))
	}
	if !x.IsTruncated {
		x.NextKeyMarker, x.NextUploadIDMarker = "", ""
	}
	return answerXML(http.StatusOK, x), nil
}

func (c *call) uploadXML(u *upload) uploadXML {
	x := uploadXML{Key: c.coded(u.key), UploadID: u.id, Initiator: personXML{"owner", "owner"}, Owner: personXML{"owner", "owner"},
		StorageClass: cmp.Or(u.header.Get("X-Amz-Storage-Class"), "STANDARD"), Initiated: xmlTime(u.initiated)}
	if u.sum.algorithm != nil {
		x.ChecksumAlgorithm, x.ChecksumType = u.sum.name, u.sum.kind
	}
	return x
}
