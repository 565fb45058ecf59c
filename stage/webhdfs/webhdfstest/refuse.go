package webhdfstest

import (
	"cmp"
	"crypto/subtle"
	"net/http"
)

// refused gives the refusal of a switch or a server that lets nothing be done, or nil. The lock is held.
func (ns *Namespace) refused(c *call) error {
	if ns.fires(DropRequest, c) != nil {
		return errDropped
	}
	if on := ns.fires(PlainText, c); on != nil {
		return &exception{status: cmp.Or(on.Status, http.StatusServiceUnavailable), html: true, message: cmp.Or(on.Message, "The service is not available.")}
	}
	if err := ns.authorize(c); err != nil {
		return err
	}
	if on := ns.fires(Exception, c); on != nil {
		return on.fail("IOException", "an exception on purpose")
	}
	if !ns.active(c) {
		return fail("StandbyException", "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error")
	}
	if on := ns.fires(SafeMode, c); on != nil {
		return on.fail("SafeModeException", "Cannot change "+c.path+". Name node is in safe mode.")
	}
	if on := ns.fires(ChecksumUnsupported, c); on != nil {
		return on.fail("UnsupportedOperationException", "Unsupported operation GETFILECHECKSUM")
	}
	if c.httpFS && c.verb == CreateData && c.r.Header.Get("Content-Type") != "application/octet-stream" {
		return &exception{status: http.StatusBadRequest, html: true, message: "Data upload requests must have content-type set to 'application/octet-stream'"}
	}
	return nil
}

// active says whether somebody is there who may answer.
func (ns *Namespace) active(c *call) bool {
	if !c.verb.atDataNode() {
		return !c.node.standby || c.verb == Create
	}
	for _, n := range ns.nameNodes {
		if !n.standby {
			return true
		}
	}
	return false
}

func (ns *Namespace) authorize(c *call) error {
	if ns.o.BasicUser == "" {
		return nil
	}
	user, password, _ := c.r.BasicAuth()
	if subtle.ConstantTimeCompare([]byte(user+":"+password), []byte(ns.o.BasicUser+":"+ns.o.BasicPassword)) == 1 {
		return nil
	}
	return &exception{status: http.StatusUnauthorized, html: true, message: "Authentication required",
		header: http.Header{"Www-Authenticate": {`Basic realm="gateway"`}}}
}
