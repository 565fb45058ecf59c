package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	colinmarc "github.com/colinmarc/hdfs/v2"
)

// remoteError is what a NameNode or DataNode has said went wrong.
type remoteError struct {
	class   string // of the Java exception, without its package
	message string // its first line
}

func (e *remoteError) Error() string { return e.class + ": " + e.message }

// Classes of exceptions, by what they say about a call.
var (
	// It was not done, and may be later.
	laterClasses  = []string{"SafeModeException", "RetriableException", "StandbyException", "RecoveryInProgressException", "NotReplicatedYetException", "ServerTooBusyException", "RpcServerException"}
	absentClasses = []string{"FileNotFoundException"}
	takenClasses  = []string{"FileAlreadyExistsException", "AlreadyBeingCreatedException"}
	deniedClasses = []string{"AccessControlException", "AuthorizationException", "InvalidToken"}
)

// Is makes an fs error of what a server has said.
func (e *remoteError) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return slices.Contains(absentClasses, e.class)
	case fs.ErrExist:
		return slices.Contains(takenClasses, e.class)
	case fs.ErrPermission:
		return slices.Contains(deniedClasses, e.class)
	}
	return false
}

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
	case errors.Is(err, errUnreachable), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrPermission):
		return err
	}
	var remote colinmarc.Error
	if errors.As(err, &remote) {
		class := remote.Exception()
		text, _, _ := strings.Cut(strings.TrimSpace(remote.Message()), "\n")
		return &remoteError{class: class[strings.LastIndexAny(class, ".$")+1:], message: strings.TrimPrefix(text, class+": ")}
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
	if e, ok := errors.AsType[*remoteError](err); ok {
		return slices.Contains(laterClasses, e.class) || e.class == "IOException" && strings.Contains(e.message, "could only be written to")
	}
	_, ok := errors.AsType[*brokenError](err)
	return ok && !errors.Is(err, context.Canceled)
}
