package webhdfstest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

const renameNone = "?op=RENAME&destination=/w/b&renameoptions=NONE"

var scenes = map[Switch]func(*client){
	DropReplyAfter: func(c *client) {
		c.ns.Set(DropReplyAfter, On{Verb: Rename, Times: 1})
		c.broken(c.ask("PUT", "/w/a"+renameNone, nil))
		c.holds("/w/b", "a")
	},
	DropRequest: func(c *client) {
		c.ns.Set(DropRequest, On{Verb: Rename})
		c.broken(c.ask("PUT", "/w/a"+renameNone, nil))
		c.holds("/w/b", "-")
	},
	ErrorAfter: func(c *client) {
		c.ns.Set(ErrorAfter, On{Verb: CreateData, Code: "RetriableException", Status: 503})
		c.create(503, "org.apache.hadoop.ipc.RetriableException", "/w/n", "", "x")
		c.holds("/w/n", "x")
	},
	Stall: func(c *client) {
		c.ns.Set(Stall, On{Verb: CreateData})
		place := c.place("PUT", "/w/n?op=CREATE")
		got := make(chan reply)
		go func() { got <- c.ask("PUT", place, strings.NewReader("x")) }()
		c.await(Stall)
		c.holds("/w/n", "-")
		c.ns.Release()
		c.check(<-got, 201, "")
		c.holds("/w/n", "x")
	},
	StallReply: func(c *client) {
		c.ns.Set(StallReply, On{Verb: Rename})
		got := make(chan reply)
		go func() { got <- c.ask("PUT", "/w/a"+renameNone, nil) }()
		c.await(StallReply)
		c.holds("/w/b", "a")
		c.ns.Release()
		c.check(<-got, 200, "")
	},
	PlainText: func(c *client) {
		c.ns.Set(PlainText, On{Times: 1})
		c.want(503, "<html>", "GET", "/w/a?op=GETFILESTATUS")
		c.want(200, "FILE", "GET", "/w/a?op=GETFILESTATUS")
	},
	Exception: func(c *client) {
		c.ns.Set(Exception, On{Verb: Delete, From: 2, Times: 1, Code: "EOFException", Message: "End of file"})
		c.want(200, "false", "DELETE", "/none?op=DELETE")
		c.want(403, `"java.io.EOFException","message":"End of file"`, "DELETE", "/w/a?op=DELETE")
		c.want(200, "true", "DELETE", "/w/a?op=DELETE")
	},
	SafeMode: func(c *client) {
		c.ns.Set(SafeMode, On{})
		c.create(403, "namenode.SafeModeException", "/w/n", "", "x")
		c.want(403, "namenode.SafeModeException", "PUT", "/w/a"+renameNone)
		c.want(200, "FILE", "GET", "/w/a?op=GETFILESTATUS")
	},
	RedirectNowhere: func(c *client) {
		c.ns.Set(RedirectNowhere, On{})
		if got := c.place("PUT", "/w/n?op=CREATE"); !strings.HasPrefix(got, "http://dn1.invalid:9864/webhdfs/v1/w/n?") {
			c.Error(got)
		}
	},
	RedirectRefused: func(c *client) {
		c.ns.Set(RedirectRefused, On{})
		c.broken(c.ask("GET", c.place("GET", "/w/a?op=OPEN"), nil))
	},
	NoDataNode: func(c *client) {
		c.ns.Set(NoDataNode, On{})
		c.want(403, "Failed to find datanode, suggest to check cluster health. excludeDatanodes=null", "PUT", "/w/n?op=CREATE&noredirect=true")
	},
	LateCreate: func(c *client) {
		c.ns.Set(LateCreate, On{Times: 1, N: 1})
		c.ns.Set(LateCreate, On{Path: "/gone/"})
		c.broken(c.ask("PUT", c.place("PUT", "/w/n?op=CREATE"), strings.NewReader("late")))
		c.want(404, "FileNotFound", "GET", "/w/n?op=GETFILESTATUS")
		c.want(200, `"length":4`, "GET", "/w/n?op=GETFILESTATUS")
		for path, held := range map[string]string{"/gone/n?op=CREATE&createparent=false": "-", "/gone/n?op=CREATE": "late"} {
			c.want(200, "true", "PUT", "/gone?op=MKDIRS")
			c.broken(c.ask("PUT", c.place("PUT", path), strings.NewReader("late")))
			c.ns.Remove("/gone")
			c.ns.Release()
			c.holds("/gone/n", held)
			c.ns.Remove("/gone")
		}
	},
	CutUpload: func(c *client) {
		c.ns.Set(CutUpload, On{N: 2})
		c.broken(c.ask("PUT", c.place("PUT", "/w/n?op=CREATE"), strings.NewReader("data")))
		c.holds("/w/n", "da")
		c.read(200, "FileChecksum", "/w/n?op=GETFILECHECKSUM")
	},
	StaysOpen: func(c *client) {
		c.ns.Set(StaysOpen, On{N: 2})
		c.broken(c.ask("PUT", c.place("PUT", "/w/n?op=CREATE"), strings.NewReader("data")))
		c.holds("/w/n", "")
		c.read(403, "under construction", "/w/n?op=GETFILECHECKSUM")
		if got := c.ns.OpenFiles(); len(got) != 1 || !c.ns.CloseFile("/w/n") {
			c.Error(got)
		}
		c.holds("/w/n", "da")
	},
	CorruptUpload: func(c *client) {
		c.ns.Set(CorruptUpload, On{})
		c.create(201, "", "/w/n", "", "data")
		c.holds("/w/n", "daua")
	},
	RenameFalse: func(c *client) {
		c.ns.Set(RenameFalse, On{})
		c.want(200, `{"boolean":false}`, "PUT", "/w/a"+renameNone)
		c.holds("/w/b", "-")
	},
	RenameFalseDone: func(c *client) {
		c.ns.Set(RenameFalseDone, On{})
		c.want(200, `{"boolean":false}`, "PUT", "/w/a"+renameNone)
		c.holds("/w/b", "a")
	},
	RenameExistsOverwrites: func(c *client) {
		c.ns.Put("/w/b", []byte("b"))
		c.ns.Set(RenameExistsOverwrites, On{})
		c.want(200, "", "PUT", "/w/a"+renameNone)
		c.holds("/w/b", "a")
	},
	RenameExistsFalse: func(c *client) {
		c.ns.Put("/w/b", []byte("b"))
		c.ns.Set(RenameExistsFalse, On{})
		c.want(200, "false", "PUT", "/w/a"+renameNone)
		c.holds("/w/b", "b")
	},
	RenameOptionsIgnored: func(c *client) {
		c.ns.Set(RenameOptionsIgnored, On{})
		c.want(200, "true", "PUT", "/w/b?op=MKDIRS")
		c.want(200, "true", "PUT", "/w/a"+renameNone)
		c.want(200, "false", "PUT", "/w/a"+renameNone)
		c.holds("/w/b/a", "a")
	},
	DeleteFalse: func(c *client) {
		c.ns.Set(DeleteFalse, On{})
		c.want(200, "false", "DELETE", "/w/a?op=DELETE")
		c.holds("/w/a", "a")
	},
	DeleteFalseDone: func(c *client) {
		c.ns.Set(DeleteFalseDone, On{})
		c.want(200, "false", "DELETE", "/w/a?op=DELETE")
		c.holds("/w/a", "-")
	},
	ListEnds: func(c *client) {
		c.ns.Set(ListEnds, On{N: 0})
		c.want(200, `"FileStatus":[]`, "GET", "/w?op=LISTSTATUS")
	},
	NoFileID: func(c *client) {
		c.ns.Set(NoFileID, On{Times: 1})
		c.ns.Set(NoFileID, On{Code: "absent"})
		c.want(200, `"fileId":0,`, "GET", "/w/a?op=GETFILESTATUS")
		if got := c.want(200, "FILE", "GET", "/w/a?op=GETFILESTATUS"); strings.Contains(got.body, "fileId") {
			c.Error(got.body)
		}
	},
	ChecksumUnsupported: func(c *client) {
		c.ns.Set(ChecksumUnsupported, On{})
		c.want(400, "java.lang.UnsupportedOperationException", "GET", "/w/a?op=GETFILECHECKSUM")
	},
	ChecksumOther: func(c *client) {
		c.ns.Set(ChecksumOther, On{Times: 1})
		c.ns.Set(ChecksumOther, On{Code: "CRC32"})
		c.read(200, `{"algorithm":"COMPOSITE-CRC32C","bytes":"c1d04330","length":4}`, "/w/a?op=GETFILECHECKSUM")
		c.read(200, "MD5-of-0MD5-of-512CRC32\"", "/w/a?op=GETFILECHECKSUM")
	},
	HttpFS: func(c *client) {
		c.ns.Set(HttpFS, On{})
		place := c.place("PUT", "/w/n?op=CREATE")
		if !strings.Contains(place, "data=true") {
			c.Error(place)
		}
		c.check(c.ask("PUT", place, strings.NewReader("x")), 400, "content-type")
		c.check(c.ask("PUT", place, strings.NewReader("x"), "Content-Type: application/octet-stream"), 201, "")
		c.check(c.ask("PUT", place, strings.NewReader("x"), "Content-Type: application/octet-stream"), 500, "FileAlreadyExistsException")
		c.want(200, "x", "GET", "/w/n?op=OPEN")
		c.want(200, "x", "GET", c.place("GET", "/w/n?op=OPEN"))
	},
}

func (c *client) await(sw Switch) {
	c.Helper()
	if err := c.ns.AwaitFired(c.Context(), sw, 1); err != nil {
		c.Fatal(err)
	}
}

func TestEverySwitch(t *testing.T) {
	for _, sw := range declared(t) {
		t.Run(string(sw), func(t *testing.T) {
			show := scenes[sw]
			if show == nil {
				t.Fatal("no scene shows it")
			}
			c := start(t, Options{})
			c.ns.Put("/w/a", []byte("a"))
			show(c)
			if c.ns.Fired(sw) == 0 {
				t.Error("it has not fired")
			}
			if unused := c.ns.Unused(); len(unused) > 0 {
				t.Errorf("never fired: %v", unused)
			}
		})
	}
}

// declared reads the switches that there are.
func declared(t *testing.T) []Switch {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "switch.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []Switch
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			found = append(found, Switch(v.Names[0].Name))
		}
		return true
	})
	if len(found) < 25 {
		t.Fatalf("only %d switches were found", len(found))
	}
	return found
}
