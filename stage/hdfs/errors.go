package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	colinmarc "github.com/colinmarc/hdfs/v2"

	"github.com/clinkctl/clinkctl/stage/namenode"
)

// brokenError says that a call was not answered, or that no server was reached. The client that made it is of no use any more.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// sort makes an error of ours of one of the library's.
func sort(ctx context.Context, err error) error {
	var path *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errUnreachable), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, namenode.ErrOpen):
		return err
	case errors.Is(err, fs.ErrPermission): // the library keeps no more of it
		return namenode.Exception{Class: "AccessControlException", Message: err.Error()}
	}
	var remote colinmarc.Error
	if errors.As(err, &remote) {
		e := namenode.NewException(remote.Exception(), remote.Message())
		e.Message = strings.TrimPrefix(e.Message, remote.Exception()+": ")
		return e
	}
	if errors.As(err, &path) {
		err = path.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &brokenError{fmt.Errorf("the call was not answered: %w", err)}
}

// passing tells whether a failure may be over when it is tried again.
func passing(err error) bool {
	if e, ok := errors.AsType[namenode.Exception](err); ok {
		return e.Passing()
	}
	_, ok := errors.AsType[*brokenError](err)
	return ok && !errors.Is(err, context.Canceled)
}
