package s3test

// Switch is one way to misbehave.
type Switch string

// What networks and unlucky moments do. Those without a verb here do it to every verb, and On.Verb narrows them.
const (
	DropReplyAfter Switch = "DropReplyAfter" // does it, and closes the connection without a reply
	ErrorAfter     Switch = "ErrorAfter"     // does it, and answers 500 InternalError, or what Status and Code say
	CutReply       Switch = "CutReply"       // does it, and closes the connection in the middle of the reply's body
	DropRequest    Switch = "DropRequest"    // closes the connection, and nothing was done
	Stall          Switch = "Stall"          // waits for Release, and then does it; nothing, if the client has left by then
	StallReply     Switch = "StallReply"     // does it, and replies after Release
	Throttle       Switch = "Throttle"       // reads bodies at N bytes a second; UploadPart

	SlowDown     Switch = "SlowDown"     // 503 SlowDown, and nothing was done
	Internal     Switch = "Internal"     // 500 InternalError, and nothing was done
	Deny         Switch = "Deny"         // 403 AccessDenied, or what Status and Code say
	DenyHead     Switch = "DenyHead"     // Deny of HeadObject
	DenyList     Switch = "DenyList"     // Deny of ListObjectsV2 and ListMultipartUploads
	Unsupported  Switch = "Unsupported"  // 501 NotImplemented
	ExpiredToken Switch = "ExpiredToken" // 400 ExpiredToken; Rotate gives the client a way out
	ClockSkew    Switch = "ClockSkew"    // 403 RequestTimeTooSkewed
	Redirect     Switch = "Redirect"     // 307 TemporaryRedirect to Location, or 301 PermanentRedirect where Status says so; Region is the bucket's

	ErrorIn200     Switch = "ErrorIn200"     // CompleteMultipartUpload: 200 with an InternalError in it, and nothing was done
	ErrorIn200Done Switch = "ErrorIn200Done" // the same, and it was done

	// LateComplete: CompleteMultipartUpload closes the connection at once. What it asks for is done when N further
	// requests have been answered without it, or at Release. With Status it answers with an error of that status instead,
	// which is in the document where the status is 200.
	LateComplete Switch = "LateComplete"
	// InvisibleWhileCompleting: CompleteMultipartUpload takes the upload away at once, so that nothing lists, aborts or
	// completes it, and makes the object after N of HeadObject, GetObject and ListParts of the key were answered with 404,
	// or at Release. It replies then, unless LateComplete has closed the connection.
	InvisibleWhileCompleting Switch = "InvisibleWhileCompleting"

	CorruptPart Switch = "CorruptPart" // UploadPart: what is stored differs in one bit, and the reply says nothing of it
)

// How stores other than AWS are.
const (
	NoSuchUploadAfterComplete Switch = "NoSuchUploadAfterComplete" // a completed upload is completed again: 404
	ConditionBeforeReplay     Switch = "ConditionBeforeReplay"     // a completed upload is completed again with If-None-Match: 412
	UnknownUploadCompletes    Switch = "UnknownUploadCompletes"    // an unknown upload is completed, and any object is at its key: 200, and the ETag that its parts would have given
	IgnoreIfNoneMatch         Switch = "IgnoreIfNoneMatch"         // PutObject and CompleteMultipartUpload
	ConditionalConflict       Switch = "ConditionalConflict"       // 409 ConditionalRequestConflict where a condition is set
	ReplayNeedsObject         Switch = "ReplayNeedsObject"         // a completed upload is completed again, and its object is not there any more: 404
	AbortAlways204            Switch = "AbortAlways204"            // 204 for AbortMultipartUpload of an upload that is not open, which does nothing
	IgnoreObjectSize          Switch = "IgnoreObjectSize"          // x-amz-mp-object-size is not compared

	ListUploadsByExactKeyOnly Switch = "ListUploadsByExactKeyOnly" // nothing is listed unless the prefix is a whole key
	ListUploadsNothing        Switch = "ListUploadsNothing"        // the list is empty
	RefuseUploadMarker        Switch = "RefuseUploadMarker"        // 400 for the second page of a list of uploads

	EqualParts        Switch = "EqualParts"        // InvalidPart unless all parts but the last are equal, and the last is not larger
	MinPart           Switch = "MinPart"           // parts but the last have N bytes at least, instead of 5 MiB
	MaxParts          Switch = "MaxParts"          // parts are numbered up to N, instead of 10,000
	StaleETagOnRepart Switch = "StaleETagOnRepart" // a part uploaded twice is there twice, and its first ETag still works
	RefuseRepart      Switch = "RefuseRepart"      // 501 for a part uploaded twice with other bytes

	RejectChecksums Switch = "RejectChecksums" // 400 for checksum headers and for bodies in chunks; 501 if Status says so
	IgnoreChecksums Switch = "IgnoreChecksums" // checksums are not verified, not kept and not given
	StrictChecksums Switch = "StrictChecksums" // parts have the checksum that the upload was created for, none if none, always
	UnaskedPartSums Switch = "UnaskedPartSums" // InvalidPart where CompleteMultipartUpload names checksums and the upload was created for none
	OpaqueETag      Switch = "OpaqueETag"      // no ETag is the MD5 of anything that the client knows, as with keys of AWS KMS
	PlainETag       Switch = "PlainETag"       // the ETag of a completed upload is the MD5 of its bytes

	MissingIs403     Switch = "MissingIs403"     // 403 rather than 404 for reading a key that has no object: the right to list is missing
	DropMetadata     Switch = "DropMetadata"     // x-amz-meta-* is not kept
	DropTags         Switch = "DropTags"         // x-amz-tagging is not kept
	PathStyleOnly    Switch = "PathStyleOnly"    // host names are not looked at
	VirtualStyleOnly Switch = "VirtualStyleOnly" // 403 for buckets in the path
	CreatesBuckets   Switch = "CreatesBuckets"   // PutObject and CreateMultipartUpload make the bucket that they miss
	RequesterPays    Switch = "RequesterPays"    // 403 without x-amz-request-payer
	UnknownKeyIs404  Switch = "UnknownKeyIs404"  // 404 XAdminUserNotFound for an unknown access key id
)
