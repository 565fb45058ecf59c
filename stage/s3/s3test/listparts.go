package s3test

import (
	"cmp"
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

type partXML struct {
	PartNumber         int
	LastModified, ETag string
	Size               int
	sumsXML
}

type partsXML struct {
	XMLName              xml.Name `xml:"ListPartsResult"`
	Xmlns                string   `xml:"xmlns,attr"`
	Bucket, Key          string
	UploadID             string `xml:"UploadId"`
	Initiator, Owner     personXML
	StorageClass         string
	PartNumberMarker     int
	NextPartNumberMarker int `xml:",omitempty"`
	MaxParts             int
	IsTruncated          bool
	ChecksumAlgorithm    string `xml:",omitempty"`
	ChecksumType         string `xml:",omitempty"`
	Part                 []partXML
}

func (s *Server) listParts(c *call) (answer, error) {
	u, err := s.open(c)
	if err != nil {
		return answer{}, err
	}
	room, err := c.limit("max-parts")
	if err != nil {
		return answer{}, err
	}
	marker, err := strconv.Atoi(cmp.Or(c.query.Get("part-number-marker"), "0"))
	if err != nil {
		return answer{}, invalidArgument("Provided part-number-marker not an integer or within integer range")
	}
	about := c.uploadXML(u)
	x := partsXML{Xmlns: namespace, Bucket: u.bucket, Key: u.key, UploadID: u.id, Initiator: about.Initiator, Owner: about.Owner,
		StorageClass: about.StorageClass, PartNumberMarker: marker, MaxParts: room,
		ChecksumAlgorithm: about.ChecksumAlgorithm, ChecksumType: about.ChecksumType}
	for _, number := range slices.Sorted(maps.Keys(u.parts)) {
		if number <= marker {
			continue
		}
		if len(x.Part) >= room {
			x.IsTruncated = room > 0
			break
		}
		for _, p := range u.parts[number] {
			x.Part = append(x.Part, partXML{PartNumber: number, LastModified: xmlTime(p.modified), ETag: quote(p.etag), Size: len(p.data), sumsXML: p.sum.xml()})
		}
		x.NextPartNumberMarker = number
	}
	if !x.IsTruncated {
		x.NextPartNumberMarker = 0
	}
	a := answerXML(http.StatusOK, x)
	s.buckets[c.bucket].abortHeader(u, a.header)
	return a, nil
}
