package webhdfstest

import (
	"net/http"
	"slices"
	"time"
)

// fileStatus is a FileStatus: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html
type fileStatus struct {
	AccessTime       int64  `json:"accessTime"` // in ms
	BlockSize        int64  `json:"blockSize"`
	ChildrenNum      int    `json:"childrenNum"`
	FileID           *int64 `json:"fileId,omitempty"`
	Group            string `json:"group"`
	Length           int64  `json:"length"`
	ModificationTime int64  `json:"modificationTime"` // in ms
	Owner            string `json:"owner"`
	PathSuffix       string `json:"pathSuffix"`
	Permission       string `json:"permission"`
	Replication      int    `json:"replication"`
	StoragePolicy    int    `json:"storagePolicy"`
	Type             string `json:"type"`
}

type fileStatuses struct {
	FileStatuses struct {
		FileStatus []fileStatus
	}
}

const group = "supergroup"

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// status describes a node, as far as switches let it.
func (ns *Namespace) status(name string, n *node, noID *On) fileStatus {
	s := fileStatus{
		AccessTime: milliseconds(n.accessed), BlockSize: n.blockSize, ChildrenNum: len(n.children), FileID: &n.id, Group: group,
		Length: int64(len(n.data)), ModificationTime: milliseconds(n.modified), Owner: n.owner, PathSuffix: name,
		Permission: n.permission, Replication: n.replication, Type: "FILE",
	}
	if n.isDir() {
		s.Type = "DIRECTORY"
	}
	if noID != nil {
		s.FileID = new(int64)
		if noID.Code == "absent" {
			s.FileID = nil
		}
	}
	return s
}

func (ns *Namespace) getFileStatus(c *call) (answer, error) {
	n := ns.find(c.path)
	if n == nil {
		return answer{}, fail("FileNotFoundException", "File does not exist: %s", c.path)
	}
	return answerJSON(http.StatusOK, map[string]fileStatus{"FileStatus": ns.status("", n, ns.fires(NoFileID, c))}), nil
}

// entries describes what a list is of.
func (ns *Namespace) entries(c *call) ([]fileStatus, error) {
	if file := ns.fileOnTheWay(c.path); file != "" {
		return nil, fail("AccessControlException", "%s (is not a directory)", file)
	}
	n := ns.find(c.path)
	if n == nil {
		return nil, fail("FileNotFoundException", "File %s does not exist.", c.path)
	}
	if !n.isDir() {
		return []fileStatus{ns.status("", n, ns.fires(NoFileID, c))}, nil
	}
	found := []fileStatus{}
	if len(n.children) == 0 {
		return found, nil
	}
	noID := ns.fires(NoFileID, c)
	for _, name := range n.names() {
		found = append(found, ns.status(name, n.children[name], noID))
	}
	if on := ns.firesIf(ListEnds, c, func(on *On) bool { return len(found) > on.N }); on != nil {
		found = found[:on.N]
	}
	return found, nil
}

func (ns *Namespace) listStatus(c *call) (answer, error) {
	found, err := ns.entries(c)
	if err != nil {
		return answer{}, err
	}
	var x fileStatuses
	x.FileStatuses.FileStatus = found
	return answerJSON(http.StatusOK, x), nil
}

func (ns *Namespace) listStatusBatch(c *call) (answer, error) {
	found, err := ns.entries(c)
	if err != nil {
		return answer{}, err
	}
	after := c.query.Get("startafter")
	found = slices.DeleteFunc(found, func(s fileStatus) bool { return s.PathSuffix != "" && s.PathSuffix <= after })
	here := min(len(found), ns.o.ListLimit)
	var x struct {
		DirectoryListing struct {
			PartialListing   fileStatuses `json:"partialListing"`
			RemainingEntries int          `json:"remainingEntries"`
		}
	}
	x.DirectoryListing.PartialListing.FileStatuses.FileStatus = found[:here]
	x.DirectoryListing.RemainingEntries = len(found) - here
	return answerJSON(http.StatusOK, x), nil
}

func (ns *Namespace) getHomeDirectory(c *call) (answer, error) {
	return answerJSON(http.StatusOK, map[string]string{"Path": "/user/" + c.user()}), nil
}
