package webhdfs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/kerberos"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is an error as NameNodes give it.
func answer(r *http.Request, status int, class, message string) *http.Response {
	body, err := json.Marshal(map[string]any{"RemoteException": map[string]string{
		"exception": class[strings.LastIndex(class, ".")+1:], "javaClassName": class, "message": message}})
	if err != nil {
		panic(err)
	}
	return &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}
}

// outside is a folder of HDFS as anybody sees it. Paths are below it.
type outside struct {
	t          *testing.T
	base, root string
	transport  http.RoundTripper // nil for the default
	login      *kerberos.Login   // nil where everybody is believed
}

// call asks, and follows to a DataNode.
func (o outside) call(method, name, op string, body []byte, params ...string) (int, []byte) {
	o.t.Helper()
	q := url.Values{"op": {op}}
	if o.login == nil {
		q.Set("user.name", "root")
	}
	for i := 0; i < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	target := o.base + (&url.URL{Path: path.Join(o.root, name)}).EscapedPath() + "?" + q.Encode()
	client := http.Client{Transport: o.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 2 {
		r, err := http.NewRequest(method, target, nil)
		if err != nil {
			o.t.Fatal(err)
		}
		if target[:len(o.base)] != o.base || op == "CREATE" && strings.Contains(target, "namenoderpcaddress") {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		if o.login != nil && strings.HasPrefix(target, o.base) {
			header, err := o.login.Negotiate(r.URL.Hostname())
			if err != nil {
				o.t.Fatal(err)
			}
			r.Header.Set("Authorization", header)
		}
		response, err := client.Do(r)
		if err != nil {
			o.t.Fatal(err)
		}
		data, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			o.t.Fatal(err)
		}
		if response.StatusCode != http.StatusTemporaryRedirect {
			return response.StatusCode, data
		}
		target = response.Header.Get("Location")
	}
	o.t.Fatal("redirected twice")
	return 0, nil
}

func (o outside) must(method, name, op string, body []byte, params ...string) []byte {
	o.t.Helper()
	status, data := o.call(method, name, op, body, params...)
	if status/100 != 2 {
		o.t.Fatalf("%s %s: %d %s", op, name, status, data)
	}
	return data
}

func (o outside) put(name string, data []byte) { o.must("PUT", name, "CREATE", data) }
func (o outside) mkdirs(name string)           { o.must("PUT", name, "MKDIRS", nil) }
func (o outside) remove(name string)           { o.must("DELETE", name, "DELETE", nil, "recursive", "true") }
func (o outside) rename(from, to string) {
	o.must("PUT", from, "RENAME", nil, "destination", path.Join(o.root, to), "renameoptions", "NONE")
}

// entry is what a list says of a file or folder.
type entry struct {
	PathSuffix, Type string
	FileID           int64 `json:"fileId"`
	Length           int64
}

func (o outside) list(name string) []entry {
	o.t.Helper()
	status, data := o.call("GET", name, "LISTSTATUS", nil)
	if status == http.StatusNotFound {
		return nil
	}
	var said struct{ FileStatuses struct{ FileStatus []entry } }
	if err := json.Unmarshal(data, &said); err != nil || status != http.StatusOK {
		o.t.Fatal(status, string(data), err)
	}
	return said.FileStatuses.FileStatus
}

// visible is what a reader sees that looks at files in the folder itself.
func (o outside) visible(name string) map[string][]byte {
	o.t.Helper()
	seen := map[string][]byte{}
	for _, e := range o.list(name) {
		if e.PathSuffix == stage.Hidden {
			continue
		}
		seen[e.PathSuffix] = o.must("GET", path.Join(name, e.PathSuffix), "OPEN", nil)
	}
	return seen
}

// staged is whatever is under the hidden folder, but for the id, notes and empty folders of runs.
func (o outside) staged(name string) (found []string) {
	o.t.Helper()
	for _, e := range o.list(path.Join(name, stage.Hidden)) {
		at := path.Join(stage.Hidden, e.PathSuffix)
		switch {
		case e.PathSuffix == "id", strings.HasPrefix(e.PathSuffix, "key-"):
		case strings.HasPrefix(e.PathSuffix, "tmp-"), strings.HasPrefix(e.PathSuffix, "probe-"), e.Type == "FILE":
			found = append(found, at)
		default:
			for _, below := range o.list(path.Join(name, at)) {
				found = append(found, path.Join(at, below.PathSuffix))
			}
		}
	}
	return found
}
