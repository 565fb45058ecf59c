package webhdfstest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestCreate(t *testing.T) {
	c := start(t, Options{})
	got := c.create(201, "", "/w/a", "&overwrite=false&createflag=CREATE,SYNC_BLOCK&blocksize=1048576&permission=640&user.name=u", "data")
	if !strings.HasPrefix(got.header.Get("Location"), "hdfs://") {
		t.Error(got.header)
	}
	f, _ := c.ns.File("/w/a")
	if string(f.Data) != "data" || f.Permission != "640" || f.BlockSize != 1<<20 || f.Owner != "u" || !slices.Equal(f.Flags, []string{"CREATE", "SYNC_BLOCK"}) {
		t.Errorf("%+v", f)
	}
	c.create(403, "org.apache.hadoop.fs.FileAlreadyExistsException", "/w/a", "", "x")
	c.create(201, "", "/w/a", "&overwrite=true", "")
	if again, _ := c.ns.File("/w/a"); again.ID == f.ID {
		t.Error("the file that replaced another has its id")
	}
	c.create(404, "java.io.FileNotFoundException", "/none/a", "&createparent=false", "x")
	c.create(403, "FileAlreadyExistsException", "/w", "", "x")
	c.create(403, "ParentNotDirectoryException", "/w/a/b", "", "x")
	c.create(403, "min-block-size", "/w/b", "&blocksize=1000", "x")
	for _, bad := range []string{"/w/x:y?op=CREATE", "/w//b?op=CREATE", "/w/b?op=CREATE&replication=0", "/w/b?op=CREATE&createflag=FOO", "/w/b?op=CREATE&permission=999", "/w/b?op=CREATE&overwrite=maybe", "/w/b?op=FOO", "/w/b"} {
		c.want(400, "RemoteException", "PUT", bad)
	}
	c.want(404, "<html>", "GET", c.url+"/other")
}

// An upload in progress is an open file; what becomes of it when it is cut, deleted or replaced.
func TestOpenUploads(t *testing.T) {
	c := start(t, Options{})
	begin := func(path string) (*io.PipeWriter, chan reply) {
		place := c.place("PUT", path+"?op=CREATE&overwrite=true")
		r, w := io.Pipe()
		got := make(chan reply, 1)
		go func() { got <- c.ask("PUT", place, r) }()
		if _, err := w.Write([]byte("da")); err != nil {
			t.Fatal(err)
		}
		if err := c.ns.AwaitOpen(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		return w, got
	}
	end := func(w *io.PipeWriter, got chan reply, status int) {
		t.Helper()
		w.Write([]byte("ta"))
		w.Close()
		c.check(<-got, status, "")
	}
	w, got := begin("/a")
	c.want(200, `"length":0,`, "GET", "/a?op=GETFILESTATUS")
	c.read(403, "under construction", "/a?op=GETFILECHECKSUM")
	c.create(403, "hdfs.protocol.AlreadyBeingCreatedException", "/a", "", "x")
	c.want(200, "", "PUT", "/a?op=RENAME&destination=/b&renameoptions=NONE")
	end(w, got, 201)
	c.holds("/b", "data")

	w, got = begin("/a")
	c.create(201, "", "/a", "&overwrite=true", "other")
	end(w, got, 404)
	c.holds("/a", "other")

	w, got = begin("/d")
	c.want(200, "true", "DELETE", "/d?op=DELETE")
	end(w, got, 404)
	c.holds("/d", "-")

	w, got = begin("/cut")
	w.CloseWithError(io.ErrUnexpectedEOF)
	c.broken(<-got)
	closed := func() bool { return len(c.ns.OpenFiles()) == 0 }
	if err := c.ns.await(t.Context(), closed); err != nil {
		t.Fatal(err)
	}
	c.holds("/cut", "da")
}

func TestRename(t *testing.T) {
	c := start(t, Options{})
	c.ns.Put("/w/a", []byte("a"))
	c.ns.Put("/w/b", []byte("b"))
	c.want(200, "true", "PUT", "/w/d?op=MKDIRS")
	before, _ := c.ns.File("/w/a")
	rename := func(status int, part, from, to, options string) {
		t.Helper()
		if options != "" {
			options = "&renameoptions=" + options
		}
		c.want(status, part, "PUT", from+"?op=RENAME&destination="+to+options)
	}
	rename(403, "rename destination /w/b already exists", "/w/a", "/w/b", "NONE")
	rename(404, "rename source", "/w/none", "/w/c", "NONE")
	rename(404, "rename destination parent", "/w/a", "/none/a", "NONE")
	rename(403, "must both be directories", "/w/a", "/w/d", "NONE")
	rename(403, "are the same", "/w/a", "/w/a", "NONE")
	rename(403, "under source", "/w/d", "/w/d/e", "NONE")
	rename(403, "ParentNotDirectory", "/w/a", "/w/b/a", "NONE")
	rename(400, "No enum constant", "/w/a", "/w/c", "FOO")
	rename(400, "not an absolute path", "/w/a", "c", "NONE")
	rename(400, "org.apache.hadoop.fs.InvalidPathException", "/w/a", "/w/x:y", "NONE")
	rename(400, "Required param", "/w/a", "", "NONE")
	rename(200, "", "/w/a", "//w/c/", "NONE")
	if after, _ := c.ns.File("/w/c"); after.ID != before.ID || !after.Modified.Equal(before.Modified) {
		t.Errorf("%+v, was %+v", after, before)
	}
	rename(200, "", "/w/c", "/w/b", "OVERWRITE")
	c.holds("/w/b", "a")
	c.ns.Put("/w/a", nil)
	rename(200, "false", "/w/b", "/w/a", "")
	rename(200, "false", "/w/none", "/w/c", "")
	rename(200, "false", "/w/b", "/none/b", "")
	rename(200, "true", "/w/b", "/w/b", "")
	rename(200, "false", "/w/d", "/w/d", "")
	rename(200, "true", "/w/b", "/w/d", "")
	c.holds("/w/d/b", "a")
}

func TestOneRenameWins(t *testing.T) {
	c := start(t, Options{})
	var won atomic.Int32
	var racers sync.WaitGroup
	for i := range 8 {
		c.ns.Put(fmt.Sprint("/w/", i), nil)
		racers.Go(func() {
			if got := c.ask("PUT", fmt.Sprint("/w/", i, "?op=RENAME&destination=/w/x&renameoptions=NONE"), nil); got.status == 200 {
				won.Add(1)
			}
			c.ns.Requests()
			c.ns.Dirs()
			c.ns.Set(Stall, On{Times: 1, Verb: GetXAttrs})
			c.ns.Release()
		})
	}
	racers.Wait()
	if won.Load() != 1 {
		t.Errorf("%d have won", won.Load())
	}
}

func TestListsAndChanges(t *testing.T) {
	c := start(t, Options{ListLimit: 2})
	for _, name := range []string{"a", "b", "c"} {
		c.ns.Put("/w/"+name, []byte(name))
	}
	c.want(200, `"pathSuffix":"c"`, "GET", "/w?op=LISTSTATUS")
	c.want(200, `"remainingEntries":1`, "GET", "/w?op=LISTSTATUS_BATCH")
	c.want(200, `"pathSuffix":"c"`, "GET", "/w?op=LISTSTATUS_BATCH&startAfter=b")
	c.want(404, "File /none does not exist.", "GET", "/none?op=LISTSTATUS")
	c.want(403, "PathIsNotEmptyDirectoryException", "DELETE", "/w?op=DELETE")
	c.want(200, "", "PUT", "/w/a?op=SETTIMES&modificationtime=1700000000000")
	c.want(200, "", "PUT", "/w/a?op=SETPERMISSION&permission=600")
	got := c.want(200, `"modificationTime":1700000000000`, "GET", "/w/a?op=GETFILESTATUS")
	c.check(got, 200, `"permission":"600"`)
	c.want(200, "", "PUT", "/w/a?op=SETXATTR&xattr.name=user.k&xattr.value=v&flag=CREATE")
	c.want(200, `"value":"\"v\""`, "GET", "/w/a?op=GETXATTRS&xattr.name=user.k&encoding=text")
	c.want(403, "XAttrNotFoundException", "GET", "/w/b?op=GETXATTRS&xattr.name=user.k&encoding=text")
	c.want(200, `"/user/u"`, "GET", "/?op=GETHOMEDIRECTORY&user.name=u")
	c.read(200, "", "/w/a?op=OPEN&offset=0&length=0")
	c.want(403, "out of the range", "GET", "/w/a?op=OPEN&offset=5")
	c.want(403, "PathComponentTooLong", "PUT", "/"+strings.Repeat("x", 256)+"?op=MKDIRS")
	c.want(403, "ParentNotDirectory", "PUT", "/w/a/b?op=MKDIRS")
	c.want(200, "true", "DELETE", "/w?op=DELETE&recursive=true")
	c.want(200, "false", "DELETE", "/w?op=DELETE")
}

// What a real NameNode has said of the same bytes.
func TestChecksums(t *testing.T) {
	c := start(t, Options{})
	data := make([]byte, 3<<20+777)
	for i := range data {
		data[i] = byte(i * 7 % 251)
	}
	c.create(201, "", "/big", "&blocksize=1048576", string(data))
	c.read(200, `{"FileChecksum":{"algorithm":"MD5-of-2048MD5-of-512CRC32C","bytes":"0000020000000000000008009b552eda71a94480a69d37b38d0f288100000000","length":28}}`,
		"/big?op=GETFILECHECKSUM")
	c.create(201, "", "/empty", "", "")
	c.read(200, `{"FileChecksum":{"algorithm":"MD5-of-0MD5-of-0CRC32","bytes":"00000000000000000000000070bc8f4b72a86921468bf8e8441dce5100000000","length":28}}`,
		"/empty?op=GETFILECHECKSUM")
	c.read(404, "Path is not a file", "/?op=GETFILECHECKSUM")
}

func TestStandby(t *testing.T) {
	c := start(t, Options{})
	c.nn.SetStandby(true)
	c.want(403, "org.apache.hadoop.ipc.StandbyException", "GET", "/?op=GETFILESTATUS")
	c.create(403, "StandbyException", "/a", "", "x")
	first := *c
	c.serve()
	first.create(201, "", "/a", "", "x")
	c.want(200, "FILE", "GET", "/a?op=GETFILESTATUS")
	c.ns.Set(DropRequest, On{NameNode: 2})
	c.broken(c.ask("GET", "/a?op=GETFILESTATUS", nil))
}

func TestWhoAsks(t *testing.T) {
	c := start(t, Options{BasicUser: "u", BasicPassword: "p"})
	c.want(401, "<html>", "GET", "/?op=GETFILESTATUS")
	c.want(401, "<html>", "GET", "/?op=GETFILESTATUS", "Authorization: Basic dTp4")
	c.want(200, "DIRECTORY", "GET", "/?op=GETFILESTATUS&user.name=v&delegation=T", "Authorization: Basic dTpw")
	r := c.ns.Requests(GetFileStatus)[2]
	if r.User != "v" || r.Delegation != "T" || r.BasicUser != "u" || r.Status != 200 || r.Path != "/" || r.NameNode != 1 || r.Header.Get("Authorization") != "" {
		t.Errorf("%+v", r)
	}
}
