package vfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links one path may lead through, as in Linux.
const maxLinks = 40

// resolve replaces the symbolic links of an absolute path, those that dangle included; what does not exist is kept as it
// is. readlink gives a link's target, "" for what is no link, fs.ErrNotExist for what does not exist.
func resolve(name string, readlink func(string) (string, error)) (string, error) {
	if !path.IsAbs(name) {
		return "", &fs.PathError{Op: "resolve", Path: name, Err: errors.New("path is not absolute")}
	}
	at, rest, links := "/", name, 0
	for rest != "" {
		var step string
		step, rest, _ = strings.Cut(rest, "/")
		next := path.Join(at, step)
		if step == "" || next == at || step == ".." {
			at = next
			continue
		}
		target, err := readlink(next)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return path.Join(next, rest), nil
		}
		if err != nil {
			return "", err
		}
		if target == "" {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: name, Err: syscall.ELOOP}
		}
		if path.IsAbs(target) {
			at = "/"
		}
		rest = target + "/" + rest
	}
	return at, nil
}
