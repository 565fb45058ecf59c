package webhdfstest

// Switch is one way to misbehave.
type Switch string

// What networks, gateways and unlucky moments do. Those without a verb here do it to every verb, and On.Verb narrows them.
const (
	DropReplyAfter Switch = "DropReplyAfter" // does it, and closes the connection without a reply
	DropRequest    Switch = "DropRequest"    // closes the connection, and nothing was done
	ErrorAfter     Switch = "ErrorAfter"     // does it, and answers 403 IOException, or what Status and Code say
	Stall          Switch = "Stall"          // waits for Release, and then does it; nothing, if the client has left by then
	StallReply     Switch = "StallReply"     // does it, and replies after Release
	PlainText      Switch = "PlainText"      // 503, or Status, with a page of HTML, as of a gateway, and nothing was done
	Exception      Switch = "Exception"      // the exception of the name Code, with its status or Status, and nothing was done; IOException without Code
	SafeMode       Switch = "SafeMode"       // 403 SafeModeException of whatever changes something; for CREATE at the DataNode

	RedirectNowhere Switch = "RedirectNowhere" // Create, Open, GetFileChecksum: the DataNode is dn1.invalid:9864
	RedirectRefused Switch = "RedirectRefused" // the same: the DataNode is a closed port of 127.0.0.1
	NoDataNode      Switch = "NoDataNode"      // the same: 403 IOException "Failed to find datanode"
)

// What becomes of uploads: CreateData.
const (
	// LateCreate takes the body and closes the connection. The file is created when N further requests have been answered
	// without it, or at Release, if it can be created then: with createparent=false not without its parent.
	LateCreate Switch = "LateCreate"

	CutUpload     Switch = "CutUpload"     // reads N bytes and closes the connection; the file has those bytes, and is closed
	StaysOpen     Switch = "StaysOpen"     // the same, but the file stays open, and has its bytes only after CloseFile
	CorruptUpload Switch = "CorruptUpload" // what is stored differs in one bit, and the answer is 201 all the same
)

// What answers are wrong.
const (
	RenameFalse            Switch = "RenameFalse"            // 200 false, and nothing was done
	RenameFalseDone        Switch = "RenameFalseDone"        // 200 false, and it was done
	RenameExistsOverwrites Switch = "RenameExistsOverwrites" // an existing file is replaced, whatever renameoptions says
	RenameExistsFalse      Switch = "RenameExistsFalse"      // 200 false where the destination exists
	RenameOptionsIgnored   Switch = "RenameOptionsIgnored"   // as without renameoptions: moved into a directory, false for everything that fails
	DeleteFalse            Switch = "DeleteFalse"            // Delete: 200 false, and nothing was done
	DeleteFalseDone        Switch = "DeleteFalseDone"        // Delete: 200 false, and it was done
	ListEnds               Switch = "ListEnds"               // ListStatus, ListStatusBatch: the first N entries of a folder, as if they were all
	NoFileID               Switch = "NoFileID"               // fileId is 0, or missing where Code is "absent"

	ChecksumUnsupported Switch = "ChecksumUnsupported" // GetFileChecksum: 400 UnsupportedOperationException, or what Status and Code say
	ChecksumOther       Switch = "ChecksumOther"       // GetFileChecksumData: made with what Code says, as Options.Checksum does; COMPOSITE-CRC32C without Code

	// HttpFS is one process: the first step of CREATE leads to itself with data=true, which takes nothing without the
	// content type application/octet-stream; reading has a first step only where noredirect=true asks for it; and an
	// IOException is a 500. A real one ignores renameoptions besides, as RenameOptionsIgnored does.
	HttpFS Switch = "HttpFS"
)
