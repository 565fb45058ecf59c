package webhdfstest

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

func (ns *Namespace) rename(c *call) (answer, error) {
	from, to := c.path, c.given.destination
	if to == "" {
		return answer{}, requiredParameter("destination", c.verb)
	}
	if !c.canonical() {
		return answer{}, invalidPath(from)
	}
	if err := checkName(to); err != nil {
		return answer{}, err
	}
	if ns.fires(RenameFalse, c) != nil {
		return answerBool(false), nil
	}
	a, err := ns.renameAs(c, from, to)
	if err == nil && ns.fires(RenameFalseDone, c) != nil {
		a = answerBool(false)
	}
	return a, err
}

// renameAs chooses which of the two renames it is.
func (ns *Namespace) renameAs(c *call, from, to string) (answer, error) {
	if len(c.given.options) == 0 || ns.fires(RenameOptionsIgnored, c) != nil {
		done, err := ns.renameOld(from, to)
		return answerBool(done), err
	}
	overwrite := slices.Contains(c.given.options, "OVERWRITE")
	if there := ns.find(to); there != nil && ns.find(from) != nil && from != to && !overwrite {
		if ns.fires(RenameExistsFalse, c) != nil {
			return answerBool(false), nil
		}
		overwrite = !there.isDir() && ns.fires(RenameExistsOverwrites, c) != nil
	}
	return answer{status: http.StatusOK}, ns.renameNew(from, to, overwrite)
}

// renameOld is RENAME without renameoptions. It says of everything that is in the way only that it is.
func (ns *Namespace) renameOld(from, to string) (bool, error) {
	n := ns.find(from)
	if there := ns.find(to); there != nil && there.isDir() {
		to = path.Join(to, path.Base(from))
	}
	if n == nil || n == ns.root || to == "/" {
		return false, nil
	}
	if from == to {
		return true, nil
	}
	if file := ns.fileOnTheWay(to); file != "" {
		return false, notDirectory(file)
	}
	if under(to, from) || ns.find(to) != nil || ns.find(path.Dir(to)) == nil {
		return false, nil
	}
	ns.move(from, to)
	return true, nil
}

// renameNew is RENAME with renameoptions.
func (ns *Namespace) renameNew(from, to string, overwrite bool) error {
	n, there := ns.find(from), ns.find(to)
	switch {
	case n == nil:
		return fail("FileNotFoundException", "rename source %s is not found.", from)
	case n == ns.root:
		return fail("IOException", "rename source cannot be the root")
	case to == "/":
		return fail("IOException", "rename destination cannot be the root")
	}
	if file := ns.fileOnTheWay(to); file != "" {
		return notDirectory(file)
	}
	switch {
	case from == to:
		return fail("FileAlreadyExistsException", "The source %s and destination %s are the same", from, to)
	case under(to, from):
		return fail("IOException", "Rename destination %s is a directory or file under source %s", to, from)
	case there != nil && there.isDir() != n.isDir():
		return fail("IOException", "Source %s and destination %s must both be directories", from, to)
	case there != nil && !overwrite:
		return fail("FileAlreadyExistsException", "rename destination %s already exists", to)
	case there != nil && len(there.children) > 0:
		return fail("IOException", "rename destination directory is not empty: %s", to)
	case ns.find(path.Dir(to)) == nil:
		return fail("FileNotFoundException", "rename destination parent %s not found.", to)
	}
	ns.move(from, to)
	return nil
}

func under(p, dir string) bool { return strings.HasPrefix(p, dir+"/") }

// move keeps the node, and with it all that is known of it.
func (ns *Namespace) move(from, to string) {
	n := ns.unlink(from)
	ns.link(ns.find(path.Dir(to)), path.Base(to), n)
}
