package s3test

// Kind is a kind of store, with all that this package knows of its ways.
type Kind string

// The kinds that Like knows.
const (
	Versitygw Kind = "versitygw"
	SeaweedFS Kind = "SeaweedFS"
	Rclone    Kind = "rclone"
	Gofakes3  Kind = "gofakes3"
	MinIO     Kind = "MinIO"
	R2        Kind = "R2"
)

// setting is a switch and where it is on.
type setting struct {
	sw Switch
	on On
}

func settingsOf(k Kind) []setting {
	switch k {
	case Versitygw:
		return []setting{{UnknownUploadCompletes, On{}}, {NoSuchUploadAfterComplete, On{}}, {UnaskedPartSums, On{}}, {RefuseUploadMarker, On{}}, {UnknownKeyIs404, On{}},
			{Unsupported, On{Verb: GetBucketLifecycleConfiguration}}, {Unsupported, On{Verb: PutBucketVersioning}}}
	case SeaweedFS:
		return []setting{{ConditionBeforeReplay, On{}}, {ReplayNeedsObject, On{}}, {StaleETagOnRepart, On{}}, {IgnoreObjectSize, On{}}, {CreatesBuckets, On{}}}
	case Rclone:
		return []setting{{IgnoreChecksums, On{}}, {PlainETag, On{}}, {RefuseRepart, On{}}, {IgnoreObjectSize, On{}},
			{MinPart, On{N: 0}}, {Unsupported, On{Verb: PutBucketVersioning}}}
	case Gofakes3:
		return []setting{{NoSuchUploadAfterComplete, On{}}, {IgnoreChecksums, On{}}, {PlainETag, On{}}, {IgnoreObjectSize, On{}},
			{MinPart, On{N: 0}}, {IgnoreIfNoneMatch, On{Verb: CompleteMultipartUpload}}}
	case MinIO:
		return []setting{{NoSuchUploadAfterComplete, On{}}, {ListUploadsByExactKeyOnly, On{}}}
	case R2:
		return []setting{{EqualParts, On{}}}
	}
	return nil
}

// Like sets the switches of a kind of store.
func (s *Server) Like(k Kind) {
	for _, set := range settingsOf(k) {
		s.Set(set.sw, set.on)
	}
}
