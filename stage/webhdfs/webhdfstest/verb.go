package webhdfstest

import "strings"

// Verb is an operation of WebHDFS, under the name that it has there.
type Verb string

// What a namespace can do. Three operations have two steps, which are two verbs: the NameNode says where, and the
// DataNode does it.
const (
	GetFileStatus    Verb = "GETFILESTATUS"
	ListStatus       Verb = "LISTSTATUS"
	ListStatusBatch  Verb = "LISTSTATUS_BATCH"
	GetHomeDirectory Verb = "GETHOMEDIRECTORY"
	Open             Verb = "OPEN"
	GetFileChecksum  Verb = "GETFILECHECKSUM"
	GetXAttrs        Verb = "GETXATTRS"
	Mkdirs           Verb = "MKDIRS"
	Create           Verb = "CREATE"
	Rename           Verb = "RENAME"
	SetTimes         Verb = "SETTIMES"
	SetPermission    Verb = "SETPERMISSION"
	SetXAttr         Verb = "SETXATTR"
	Delete           Verb = "DELETE"

	OpenData            Verb = "OPEN data"
	GetFileChecksumData Verb = "GETFILECHECKSUM data"
	CreateData          Verb = "CREATE data"
)

// handler carries out a verb. The lock is held.
type handler func(*Namespace, *call) (answer, error)

var handlers = map[Verb]handler{
	GetFileStatus:    (*Namespace).getFileStatus,
	ListStatus:       (*Namespace).listStatus,
	ListStatusBatch:  (*Namespace).listStatusBatch,
	GetHomeDirectory: (*Namespace).getHomeDirectory,
	Open:             (*Namespace).locateRead,
	GetFileChecksum:  (*Namespace).locateRead,
	GetXAttrs:        (*Namespace).getXAttrs,
	Mkdirs:           (*Namespace).mkdirs,
	Create:           (*Namespace).locateCreate,
	Rename:           (*Namespace).rename,
	SetTimes:         (*Namespace).setTimes,
	SetPermission:    (*Namespace).setPermission,
	SetXAttr:         (*Namespace).setXAttr,
	Delete:           (*Namespace).delete,

	OpenData:            (*Namespace).open,
	GetFileChecksumData: (*Namespace).checksum,
	CreateData:          (*Namespace).beginUpload,
}

var methods = map[Verb]string{
	GetFileStatus: "GET", ListStatus: "GET", ListStatusBatch: "GET", GetHomeDirectory: "GET", Open: "GET", GetFileChecksum: "GET", GetXAttrs: "GET",
	Mkdirs: "PUT", Create: "PUT", Rename: "PUT", SetTimes: "PUT", SetPermission: "PUT", SetXAttr: "PUT",
	Delete: "DELETE",
}

// verbOf names what a request asks for; "" is nothing that is known here.
func verbOf(method, op string) Verb {
	verb := Verb(strings.ToUpper(op))
	if methods[verb] != method {
		return ""
	}
	return verb
}

// data is the second step of a verb, or "" if there is none.
func (v Verb) data() Verb {
	switch v {
	case Create, Open, GetFileChecksum:
		return v + " data"
	}
	return ""
}

// atDataNode says whether a DataNode does it.
func (v Verb) atDataNode() bool { return strings.HasSuffix(string(v), " data") }
