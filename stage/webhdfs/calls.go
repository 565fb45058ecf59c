package webhdfs

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/stage/namenode"
)

// status is a FileStatus.
type status struct {
	PathSuffix       string
	Type             string
	FileID           int64 `json:"fileId"`
	Length           int64
	ModificationTime int64 // ms since 1970
}

func (s status) info() namenode.Info {
	return namenode.Info{Name: s.PathSuffix, ID: s.FileID, Dir: s.Type == "DIRECTORY", Size: s.Length, ModTime: time.UnixMilli(s.ModificationTime)}
}

// Stat describes a file or folder.
func (c *client) Stat(ctx context.Context, name string) (namenode.Info, error) {
	a, err := c.ask(ctx, http.MethodGet, name, "GETFILESTATUS")
	if err != nil {
		return namenode.Info{}, err
	}
	var said struct{ FileStatus *status }
	if err := a.parse(&said); err != nil {
		return namenode.Info{}, err
	}
	if said.FileStatus == nil {
		return namenode.Info{}, fmt.Errorf("GETFILESTATUS %s: the answer has no status; is it WebHDFS that answers?", name)
	}
	return said.FileStatus.info(), nil
}

// List describes what is in a folder, page by page.
func (c *client) List(ctx context.Context, dir string) ([]namenode.Info, error) {
	var all []namenode.Info
	after := ""
	for {
		a, err := c.ask(ctx, http.MethodGet, dir, "LISTSTATUS_BATCH", "startAfter", after)
		if err != nil {
			return nil, err
		}
		var said struct {
			DirectoryListing *struct {
				PartialListing struct {
					FileStatuses struct{ FileStatus []status }
				}
				RemainingEntries int
			}
		}
		if err := a.parse(&said); err != nil {
			return nil, err
		}
		if said.DirectoryListing == nil {
			return nil, fmt.Errorf("LISTSTATUS_BATCH %s: the answer has no list; is it WebHDFS that answers?", dir)
		}
		page := said.DirectoryListing.PartialListing.FileStatuses.FileStatus
		for _, s := range page {
			if s.PathSuffix == "" { // a file, not a folder
				return nil, fmt.Errorf("LISTSTATUS_BATCH %s: it is no folder", dir)
			}
			all, after = append(all, s.info()), s.PathSuffix
		}
		if said.DirectoryListing.RemainingEntries == 0 {
			return all, nil
		}
		if len(page) == 0 {
			return nil, fmt.Errorf("LISTSTATUS_BATCH %s: the list ends early", dir)
		}
	}
}

// answeredTrue reads the answer that a call was done. false is no error of HTTP's.
func (a answer) answeredTrue() (bool, error) {
	var said struct{ Boolean *bool }
	if err := a.parse(&said); err != nil {
		return false, err
	}
	if said.Boolean == nil {
		return false, errors.New("the answer is neither true nor false; is it WebHDFS that answers?")
	}
	return *said.Boolean, nil
}

// Mkdirs makes a folder and its parents.
func (c *client) Mkdirs(ctx context.Context, dir string) error {
	a, err := c.ask(ctx, http.MethodPut, dir, "MKDIRS")
	if err != nil {
		return err
	}
	done, err := a.answeredTrue()
	if err == nil && !done {
		err = namenode.ErrFalse
	}
	if err != nil {
		return fmt.Errorf("MKDIRS %s: %w", dir, err)
	}
	return nil
}

// Rename gives a file another name. Without the option the answers to success and to failure are alike, and a folder of the
// new name would take the file in.
func (c *client) Rename(ctx context.Context, from, to string) error {
	a, err := c.ask(ctx, http.MethodPut, from, "RENAME", "destination", to, "renameoptions", "NONE")
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(a.body))) == 0 {
		return nil
	}
	done, err := a.answeredTrue()
	if err == nil && !done {
		err = namenode.ErrFalse
	}
	if err != nil {
		return fmt.Errorf("RENAME %s to %s: %w", from, to, err)
	}
	return nil
}

// Remove removes a file or folder for good.
func (c *client) Remove(ctx context.Context, name string, all bool) (bool, error) {
	a, err := c.ask(ctx, http.MethodDelete, name, "DELETE", "recursive", strconv.FormatBool(all))
	if err != nil {
		return false, err
	}
	was, err := a.answeredTrue()
	if err != nil {
		return false, fmt.Errorf("DELETE %s: %w", name, err)
	}
	return was, nil
}

// Checksum asks a DataNode, which the NameNode names, for the checksum of a file.
func (c *client) Checksum(ctx context.Context, name string) (sum namenode.Checksum, err error) {
	err = c.again(ctx, func() error {
		a, err := c.askOnce(ctx, http.MethodGet, name, "GETFILECHECKSUM", c.noRedirect()...)
		if err != nil {
			return err
		}
		if !strings.Contains(string(a.body), "FileChecksum") { // HttpFS answers at once
			u, err := c.redirect(a)
			if err != nil {
				return err
			}
			if a, err = c.once(ctx, http.MethodGet, u.String(), ""); err != nil {
				return err
			}
		}
		sum, err = parseChecksum(a)
		return err
	})
	if err != nil {
		return sum, fmt.Errorf("GETFILECHECKSUM %s: %w", name, err)
	}
	return sum, nil
}

// parseChecksum reads a FileChecksum. Its bytes are those of the checksum with what comes before and after it: of MD5s, 4 bytes
// of the length of chunks and 8 of their number in a block, then the 16 of the MD5.
func parseChecksum(a answer) (namenode.Checksum, error) {
	var said struct {
		FileChecksum struct {
			Algorithm, Bytes string
			Length           int
		}
	}
	if err := a.parse(&said); err != nil {
		return namenode.Checksum{}, err
	}
	f := said.FileChecksum
	raw, err := hex.DecodeString(f.Bytes)
	from, to := 12, 28
	if strings.HasPrefix(f.Algorithm, "COMPOSITE-") {
		from, to = 0, 4
	}
	if err != nil || f.Algorithm == "" || len(raw) < to {
		return namenode.Checksum{}, errors.New("the server's answer has no checksum")
	}
	return namenode.Checksum{Algorithm: f.Algorithm, Bytes: hex.EncodeToString(raw[from:to])}, nil
}

// Read reads a file from an offset.
func (c *client) Read(ctx context.Context, name string, offset, length int64) (body io.ReadCloser, err error) {
	params := []string{"offset", strconv.FormatInt(offset, 10)}
	if length >= 0 {
		params = append(params, "length", strconv.FormatInt(length, 10))
	}
	err = c.again(ctx, func() error {
		a, err := c.askOnce(ctx, http.MethodGet, name, "OPEN", c.noRedirect(params...)...)
		if err != nil {
			return err
		}
		u, err := c.redirect(a)
		if err != nil {
			return err
		}
		body, err = c.download(ctx, u.String())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("OPEN %s: %w", name, err)
	}
	return body, nil
}

var errStalled = errors.New("no byte has moved for too long")

// download begins to read what a DataNode sends. It ends when no byte comes for too long.
func (c *client) download(ctx context.Context, target string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.timeout, func() { cancel(errStalled) })
	r, err := c.send(ctx, http.MethodGet, target, "", nil)
	if err == nil && r.StatusCode != http.StatusOK {
		if _, err = c.receive(ctx, r); err == nil {
			err = fmt.Errorf("%s answers %d to a read", r.Request.URL.Host, r.StatusCode)
		}
	}
	if err != nil {
		timer.Stop()
		cancel(nil)
		return nil, err
	}
	return &download{client: c, ctx: ctx, cancel: cancel, timer: timer, response: r}, nil
}

type download struct {
	client   *client
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	response *http.Response
}

func (d *download) Read(p []byte) (int, error) {
	d.timer.Reset(d.client.timeout)
	n, err := d.response.Body.Read(p)
	if err != nil && err != io.EOF {
		err = d.client.unanswered(d.ctx, d.response.Request.URL.Host, err)
	}
	return n, err
}

func (d *download) Close() error {
	d.timer.Stop()
	defer d.cancel(nil)
	return d.response.Body.Close()
}
