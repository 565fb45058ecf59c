package namenode

import (
	"io/fs"
	"slices"
	"strings"
)

// Exception is what a server has said went wrong.
type Exception struct {
	Class   string // of the Java exception, without its package; "" where there is none
	Message string // its first line
}

// NewException makes one of a class with its package and of a message with its stack.
func NewException(class, message string) Exception {
	class = class[strings.LastIndexAny(class, ".$")+1:]
	if strings.Trim(class, letters) != "" {
		class = "" // it is no class, and may be anything
	}
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	return Exception{class, message}
}

// letters are what the names of classes are made of.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

func (e Exception) Error() string { return e.Class + ": " + e.Message }

// Classes of exceptions, by what they say about a call.
var (
	// It was not done, and may be later.
	laterClasses = []string{"SafeModeException", "RetriableException", "EOFException", "SocketException", "SocketTimeoutException",
		"ConnectException", "ConnectTimeoutException", "NoRouteToHostException", "RecoveryInProgressException", "ClosedChannelException",
		"InterruptedIOException", "RetryStartFileException", "NotReplicatedYetException", "ServerTooBusyException", "RpcServerException"}
	// It was not done, and another NameNode is the one to ask.
	otherClasses  = []string{"StandbyException", "ObserverRetryOnActiveException"}
	absentClasses = []string{"FileNotFoundException"}
	takenClasses  = []string{"FileAlreadyExistsException", "AlreadyBeingCreatedException", "PathIsNotEmptyDirectoryException"}
	// Quotas are of the folder, and whoever has set them must raise them.
	permanentClasses = []string{"NSQuotaExceededException", "DSQuotaExceededException", "QuotaByStorageTypeExceededException", "ParentNotDirectoryException"}
	deniedClasses    = []string{"AccessControlException", "SecurityException", "AuthorizationException", "InvalidToken"}
)

// Is makes an fs error, or one of this package's, of what a server has said.
func (e Exception) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return slices.Contains(absentClasses, e.Class)
	case fs.ErrExist:
		return slices.Contains(takenClasses, e.Class)
	case fs.ErrPermission:
		return slices.Contains(deniedClasses, e.Class)
	case ErrPermanent:
		return slices.Contains(deniedClasses, e.Class) || slices.Contains(permanentClasses, e.Class)
	case ErrOpen:
		return strings.Contains(e.Message, "under construction")
	}
	return false
}

// Elsewhere tells whether another NameNode is the one to ask.
func (e Exception) Elsewhere() bool { return slices.Contains(otherClasses, e.Class) }

// Passing tells whether the same call may be answered otherwise later.
func (e Exception) Passing() bool {
	if e.Class == "IOException" {
		return strings.Contains(e.Message, "Failed to find datanode") || strings.Contains(e.Message, "could only be written to")
	}
	return slices.Contains(laterClasses, e.Class) || e.Elsewhere()
}
