package webhdfstest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// exception is an answer that refuses.
type exception struct {
	status         int
	class, message string
	html           bool // a page says it, and no document
	header         http.Header
}

func (e *exception) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.class, e.message) }

// errDropped is no answer at all.
var errDropped = errors.New("the connection is closed")

// packages say where exceptions are at home. Those that are not here are in java.lang.
var packages = map[string]string{
	"IOException":                      "java.io.",
	"EOFException":                     "java.io.",
	"FileNotFoundException":            "java.io.",
	"InterruptedIOException":           "java.io.",
	"ConnectException":                 "java.net.",
	"NoRouteToHostException":           "java.net.",
	"SocketException":                  "java.net.",
	"SocketTimeoutException":           "java.net.",
	"UnknownHostException":             "java.net.",
	"FileAlreadyExistsException":       "org.apache.hadoop.fs.",
	"InvalidPathException":             "org.apache.hadoop.fs.",
	"ParentNotDirectoryException":      "org.apache.hadoop.fs.",
	"PathIsNotEmptyDirectoryException": "org.apache.hadoop.fs.",
	"HadoopIllegalArgumentException":   "org.apache.hadoop.",
	"AlreadyBeingCreatedException":     "org.apache.hadoop.hdfs.protocol.",
	"DSQuotaExceededException":         "org.apache.hadoop.hdfs.protocol.",
	"NSQuotaExceededException":         "org.apache.hadoop.hdfs.protocol.",
	"PathComponentTooLongException":    "org.apache.hadoop.hdfs.protocol.FSLimitException$",
	"RecoveryInProgressException":      "org.apache.hadoop.hdfs.protocol.",
	"XAttrNotFoundException":           "org.apache.hadoop.hdfs.protocol.",
	"LeaseExpiredException":            "org.apache.hadoop.hdfs.server.namenode.",
	"SafeModeException":                "org.apache.hadoop.hdfs.server.namenode.",
	"NotReplicatedYetException":        "org.apache.hadoop.hdfs.server.namenode.",
	"RetriableException":               "org.apache.hadoop.ipc.",
	"StandbyException":                 "org.apache.hadoop.ipc.",
	"AccessControlException":           "org.apache.hadoop.security.",
	"InvalidToken":                     "org.apache.hadoop.security.token.SecretManager$",
}

// statuses are of those exceptions that are not 403.
var statuses = map[string]int{
	"FileNotFoundException":          http.StatusNotFound,
	"InvalidPathException":           http.StatusBadRequest,
	"HadoopIllegalArgumentException": http.StatusBadRequest,
	"IllegalArgumentException":       http.StatusBadRequest,
	"UnsupportedOperationException":  http.StatusBadRequest,
	"SecurityException":              http.StatusUnauthorized,
	"NullPointerException":           http.StatusInternalServerError,
	"RuntimeException":               http.StatusInternalServerError,
}

// simple is the last name of a class.
func simple(class string) string { return class[strings.LastIndexAny(class, ".$")+1:] }

// fail refuses with an exception of a simple name, or of its whole one.
func fail(class, format string, args ...any) error {
	name := simple(class)
	if name == class {
		class = cmp.Or(packages[name], "java.lang.") + name
	}
	return &exception{status: cmp.Or(statuses[name], http.StatusForbidden), class: class, message: fmt.Sprintf(format, args...)}
}

// fail is a refusal with the status, exception and message that On asks for, or these.
func (on *On) fail(class, message string) error {
	err := fail(cmp.Or(on.Code, class), "%s", cmp.Or(on.Message, message))
	if e, ok := errors.AsType[*exception](err); ok {
		e.status = cmp.Or(on.Status, e.status)
	}
	return err
}

// The refusals that more than one place gives.
func badParameter(name, reason string) error {
	return fail("IllegalArgumentException", "Invalid value for webhdfs parameter %q: %s", name, reason)
}

func requiredParameter(name string, verb Verb) error {
	return fail("IllegalArgumentException", "Required param %s for op: %s is null or empty", name, verb)
}

func invalidPath(path string) error {
	return fail("InvalidPathException", "Invalid path name Invalid file name: %s", path)
}

func notDirectory(path string) error {
	return fail("ParentNotDirectoryException", "%s (is not a directory)", path)
}

// unknownOperation refuses what is no operation of the request's method.
func (c *call) unknownOperation() error {
	switch op := c.query.Get("op"); {
	case c.path == "":
		return &exception{status: http.StatusNotFound, class: "Not Found", html: true}
	case op == "":
		return fail("UnsupportedOperationException", "op=NULL is not supported")
	default:
		return badParameter("op", fmt.Sprintf("%s is not a valid %s operation.", op, c.r.Method))
	}
}

type remoteException struct {
	Exception     string `json:"exception"`
	JavaClassName string `json:"javaClassName"`
	Message       string `json:"message"`
}

// answerError says an error in the words of who is asked.
func (c *call) answerError(err error) answer {
	if errors.Is(err, errDropped) {
		return answer{drop: true}
	}
	e, ok := errors.AsType[*exception](err)
	if !ok {
		e = &exception{status: http.StatusInternalServerError, class: "java.lang.RuntimeException", message: err.Error()}
	}
	if e.html {
		return e.page()
	}
	x := remoteException{Exception: simple(e.class), JavaClassName: e.class, Message: e.message}
	if c.verb.atDataNode() && !c.httpFS {
		// A DataNode passes on what the NameNode has told it, with its stack.
		x.Message += "\n\tat org.apache.hadoop.hdfs.server.namenode.FSNamesystem.startFile(FSNamesystem.java:2713)\n"
	}
	if c.httpFS && e.status == http.StatusForbidden {
		e.status = http.StatusInternalServerError
	}
	return answerJSON(e.status, map[string]remoteException{"RemoteException": x})
}

// page is how web servers say that something is wrong.
func (e *exception) page() answer {
	title := fmt.Sprintf("%d %s", e.status, http.StatusText(e.status))
	body := fmt.Sprintf("<html>\n<head><title>%s</title></head>\n<body><h1>%s</h1><p>%s</p></body>\n</html>\n", title, title, e.message)
	a := answer{status: e.status, body: []byte(body), header: http.Header{"Content-Type": {"text/html;charset=utf-8"}}}
	for name, values := range e.header {
		a.header[name] = values
	}
	return a
}
