package webhdfstest

import (
	"cmp"
	"net/http"
	"strconv"
	"time"
)

func (ns *Namespace) mkdirs(c *call) (answer, error) {
	if !c.canonical() {
		return answer{}, invalidPath(c.path)
	}
	if file := ns.fileOnTheWay(c.path); file != "" {
		return answer{}, notDirectory(file)
	}
	if n := ns.find(c.path); n != nil && !n.isDir() {
		return answer{}, fail("FileAlreadyExistsException", "Path is not a directory: %s", c.path)
	}
	if err := checkName(c.path); err != nil {
		return answer{}, err
	}
	ns.makeDirs(c.path, c.user(), cmp.Or(c.given.permission, "755"))
	return answerBool(true), nil
}

func (ns *Namespace) delete(c *call) (answer, error) {
	n := ns.find(c.path)
	switch {
	case n == nil || n == ns.root:
		return answerBool(false), nil
	case len(n.children) > 0 && !c.is("recursive"):
		return answer{}, fail("PathIsNotEmptyDirectoryException", "`%s is non empty': Directory is not empty", c.path)
	case ns.fires(DeleteFalse, c) != nil:
		return answerBool(false), nil
	}
	ns.unlink(c.path).leave()
	return answerBool(ns.fires(DeleteFalseDone, c) == nil), nil
}

func (ns *Namespace) setTimes(c *call) (answer, error) {
	n := ns.find(c.path)
	if n == nil {
		return answer{}, fail("FileNotFoundException", "File/Directory %s does not exist.", c.path)
	}
	for name, into := range map[string]*time.Time{"modificationtime": &n.modified, "accesstime": &n.accessed} {
		if ms, err := strconv.ParseInt(c.query.Get(name), 10, 64); err == nil && ms >= 0 {
			*into = time.UnixMilli(ms)
		}
	}
	return answer{status: http.StatusOK}, nil
}

func (ns *Namespace) setPermission(c *call) (answer, error) {
	n := ns.find(c.path)
	if n == nil {
		return answer{}, fail("FileNotFoundException", "Directory/File does not exist %s", c.path)
	}
	n.permission = cmp.Or(c.given.permission, "755")
	return answer{status: http.StatusOK}, nil
}
