package hdfs

import (
	"errors"
	"fmt"
	"net"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// address is a folder at a NameNode, or at a nameservice that Hadoop's configuration files name. Its text is hdfs://host:port/path, and the path is taken as it is written: nothing in
// it is escaped.
type address struct{ host, path string }

// rpcPort is the port of a NameNode that no port is given for.
const rpcPort = "8020"

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// parseAddress reads an address, without slashes at its end.
func parseAddress(text string) (address, error) {
	rest, ok := strings.CutPrefix(text, scheme+"://")
	if !ok {
		return address{}, fmt.Errorf("%q does not begin with %s://", text, scheme)
	}
	host, dir, _ := strings.Cut(rest, "/")
	dir = "/" + strings.Trim(dir, "/")
	switch {
	case strings.Contains(host, "@"):
		return address{}, errors.New("an address has no user and no password: there is the option user")
	case host == "":
		return address{}, fmt.Errorf("the address has no host: write %s://namenode:%s/path", scheme, rpcPort)
	}
	if err := checkHost(host); err != nil {
		return address{}, err
	}
	return address{host, dir}, checkPath(dir)
}

// checkHost refuses what is neither a host nor a host and port.
func checkHost(host string) error {
	name, port := host, ""
	if strings.Contains(host, ":") {
		var err error
		if name, port, err = net.SplitHostPort(host); err != nil || port == "" || strings.Trim(port, "0123456789") != "" {
			return fmt.Errorf("%q is not a host and a port: write namenode:%s", host, rpcPort)
		}
	}
	if !hostName.MatchString(name) && net.ParseIP(name) == nil {
		return fmt.Errorf("%q is not the name of a host", name)
	}
	return nil
}

// maxElement is the length of the longest element of a path that a NameNode takes, in bytes.
const maxElement = 255

// checkPath refuses paths that HDFS refuses, or changes.
func checkPath(dir string) error {
	switch {
	case path.Clean(dir) != dir:
		return fmt.Errorf("the path %q has an empty element, or . or .. as one", dir)
	case !utf8.ValidString(dir) || strings.ContainsRune(dir, 0):
		return fmt.Errorf("the path %q is not UTF-8", dir)
	case strings.Contains(dir, ":"):
		return fmt.Errorf("the path %q has a colon: HDFS has no such names", dir)
	}
	for element := range strings.SplitSeq(dir, "/") {
		if len(element) > maxElement {
			return fmt.Errorf("the path's element %q has %d bytes, and can have %d", element, len(element), maxElement)
		}
	}
	return nil
}

func (a address) String() string { return strings.TrimSuffix(scheme+"://"+a.host+a.path, "/") }
