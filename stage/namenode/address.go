package namenode

import (
	"errors"
	"fmt"
	"net"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Address is a folder at a NameNode, or at what stands for several. Its text is scheme://host:port/path, and the path is taken as it
// is written: nothing in it is escaped.
type Address struct{ Scheme, Host, Path string }

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// ParseAddress reads an address of a scheme, without slashes at its end.
func ParseAddress(scheme, text string) (Address, error) {
	rest, ok := strings.CutPrefix(text, scheme+"://")
	if !ok {
		return Address{}, fmt.Errorf("%q does not begin with %s://", text, scheme)
	}
	host, dir, _ := strings.Cut(rest, "/")
	dir = "/" + strings.Trim(dir, "/")
	switch {
	case strings.Contains(host, "@"):
		return Address{}, errors.New("an address has no user and no password: there is the option user")
	case host == "":
		return Address{}, fmt.Errorf("the address has no host: write %s://namenode/path", scheme)
	}
	if err := CheckHost(host); err != nil {
		return Address{}, err
	}
	return Address{scheme, host, dir}, checkPath(dir)
}

// CheckHost refuses what is neither a host nor a host and port.
func CheckHost(host string) error {
	name, port := host, ""
	if strings.Contains(host, ":") {
		var err error
		if name, port, err = net.SplitHostPort(host); err != nil || port == "" || strings.Trim(port, "0123456789") != "" {
			return fmt.Errorf("%q is not a host and a port: write host:port", host)
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

// Server is the address's beginning, up to its path.
func (a Address) Server() string { return a.Scheme + "://" + a.Host }

func (a Address) String() string { return strings.TrimSuffix(a.Server()+a.Path, "/") }
