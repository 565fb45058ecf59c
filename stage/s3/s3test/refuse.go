package s3test

import (
	"cmp"
	"net/http"
	"strings"
)

// refused gives the refusal of a switch that lets nothing be done, or nil. The lock is held.
func (s *Server) refused(c *call) error {
	simple := []struct {
		sw            Switch
		status        int
		code, message string
	}{
		{SlowDown, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate."},
		{Internal, http.StatusInternalServerError, "InternalError", internal},
		{ClockSkew, http.StatusForbidden, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."},
		{ExpiredToken, http.StatusBadRequest, "ExpiredToken", "The provided token has expired."},
		{Deny, http.StatusForbidden, "AccessDenied", "Access Denied"},
		{DenyHead, http.StatusForbidden, "AccessDenied", "Access Denied"},
		{DenyList, http.StatusForbidden, "AccessDenied", "Access Denied"},
		{Unsupported, http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented."},
	}
	if s.fires(DropRequest, c) != nil {
		return errDropped
	}
	for _, r := range simple {
		if on := s.fires(r.sw, c); on != nil {
			return on.fail(r.status, r.code, r.message)
		}
	}
	if on := s.fires(Redirect, c); on != nil {
		return redirect(on)
	}
	return s.style(c)
}

// style refuses what stores refuse for its form.
func (s *Server) style(c *call) error {
	switch {
	case c.bucket != "" && !c.virtual && s.fires(VirtualStyleOnly, c) != nil:
		return fail(http.StatusForbidden, "SecondLevelDomainForbidden", "Please use virtual hosted style to access.")
	case c.hasChecksums():
		if on := s.fires(RejectChecksums, c); on != nil {
			return on.fail(http.StatusBadRequest, "InvalidArgument", "Unsupported header or transfer coding.")
		}
	}
	if c.bucket != "" && c.header.Get("X-Amz-Request-Payer") != "requester" && s.fires(RequesterPays, c) != nil {
		return fail(http.StatusForbidden, "AccessDenied", "Bucket is requester pays bucket")
	}
	return nil
}

// fail is a refusal with the status and code that On asks for, or these.
func (on *On) fail(status int, code, message string) error {
	if on.Status != 0 && on.Status != status {
		status, code = on.Status, strings.ReplaceAll(http.StatusText(on.Status), " ", "")
	}
	if status == http.StatusInternalServerError {
		code = "InternalError"
	}
	return fail(status, cmp.Or(on.Code, code), message)
}

func redirect(on *On) error {
	e := &apiError{status: cmp.Or(on.Status, http.StatusTemporaryRedirect), code: "TemporaryRedirect", header: http.Header{},
		message: "Please re-send this request to the specified temporary endpoint."}
	if e.status == http.StatusMovedPermanently {
		e.code, e.message = "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint."
	}
	if on.Location != "" {
		e.header.Set("Location", on.Location)
	}
	if on.Region != "" {
		e.header.Set("X-Amz-Bucket-Region", on.Region)
	}
	return e
}
