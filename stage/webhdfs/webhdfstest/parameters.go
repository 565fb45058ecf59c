package webhdfstest

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// parameters are those of a request that have a form.
type parameters struct {
	permission        string
	replication       int
	blockSize, offset int64
	length            int64 // -1: to the end
	overwrite         bool
	createParent      bool
	flags             []string // of createflag
	options           []string // of renameoptions
	destination       string   // made clean
}

var (
	createFlags   = []string{"CREATE", "OVERWRITE", "APPEND", "SYNC_BLOCK", "LAZY_PERSIST", "NEW_BLOCK", "NO_LOCAL_WRITE", "SHOULD_REPLICATE", "IGNORE_CLIENT_LOCALITY", "NO_LOCAL_RACK"}
	renameOptions = []string{"NONE", "OVERWRITE", "TO_TRASH"}
)

// parse reads the parameters, and refuses those that are not of their form.
func (c *call) parse() error {
	p := parameters{replication: 1, createParent: true, length: -1}
	var err error
	refuse := func(name, reason string) {
		if err == nil {
			err = badParameter(name, reason)
		}
	}
	number := func(name string, least int64, into *int64) {
		text := c.query.Get(name)
		if text == "" {
			return
		}
		n, bad := strconv.ParseInt(text, 10, 64)
		switch {
		case bad != nil:
			refuse(name, fmt.Sprintf("Failed to parse %q as a radix-10 long integer.", text))
		case n < least:
			refuse(name, fmt.Sprintf("Invalid parameter range: %s = %d < %d", name, n, least))
		}
		*into = n
	}
	truth := func(name string, into *bool) {
		switch text := strings.ToLower(c.query.Get(name)); text {
		case "":
		case "true", "false":
			*into = text == "true"
		default:
			refuse(name, fmt.Sprintf("Failed to parse %q to Boolean.", text))
		}
	}
	list := func(name, kind string, known []string) (values []string) {
		for value := range strings.SplitSeq(c.unescaped(name), ",") {
			if value = strings.ToUpper(strings.TrimSpace(value)); value == "" {
				continue
			}
			if !slices.Contains(known, value) {
				refuse(name, "No enum constant org.apache.hadoop.fs."+kind+"."+value)
			}
			values = append(values, value)
		}
		return values
	}
	replication := int64(p.replication)
	number("replication", 1, &replication)
	number("blocksize", 1, &p.blockSize)
	number("offset", 0, &p.offset)
	number("length", 0, &p.length)
	truth("overwrite", &p.overwrite)
	truth("createparent", &p.createParent)
	p.flags, p.options = list("createflag", "CreateFlag", createFlags), list("renameoptions", "Options.Rename", renameOptions)
	p.replication = int(replication)
	if p.permission = c.query.Get("permission"); p.permission != "" {
		if n, bad := strconv.ParseUint(p.permission, 8, 16); bad != nil || n > 0o1777 {
			refuse("permission", fmt.Sprintf("Failed to parse %q as a radix-8 short integer.", p.permission))
		}
	}
	if p.destination = c.query.Get("destination"); p.destination != "" {
		if p.destination[0] != '/' {
			refuse("destination", fmt.Sprintf("Invalid parameter value: destination = %q is not an absolute path.", p.destination))
		}
		p.destination = path.Clean(p.destination)
	}
	c.given = p
	return err
}

// unescaped gives a parameter whose commas may be escaped twice, as they are in the address of a DataNode.
func (c *call) unescaped(name string) string {
	if text, err := url.QueryUnescape(c.query.Get(name)); err == nil {
		return text
	}
	return c.query.Get(name)
}
