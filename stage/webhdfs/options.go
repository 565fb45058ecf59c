package webhdfs

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/kerberos"
	"github.com/clinkctl/clinkctl/stage/namenode"
	"github.com/clinkctl/clinkctl/stage/options"
)

// Ports of NameNodes. https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/hdfs-default.xml
const (
	httpPort  = "9870"
	httpsPort = "9871"
)

// Defaults.
const (
	defaultBlock   = 128 << 20 // bytes
	defaultRetries = 8
	defaultTimeout = time.Minute
	maxBlock       = 1 << 40
	// chunk is how many bytes HDFS computes a checksum of: a block is made of such.
	chunk = 512
)

// settings are the options of a destination, read.
type settings struct {
	// How the NameNode is reached: nothing of this changes what is written.
	namenodes       []string
	context         string // of a gateway: what comes before /webhdfs/v1
	tls             bool
	ca, proxy       string
	user            string
	basic           string // where user:password is
	delegationToken string // where the token is
	kerberos        kerberos.Options
	hosts           map[string]string
	checksum        bool
	retries         int           // tries of a request
	timeout         time.Duration // of a call, and of an upload that does not move
	// What files are.
	block                   int64 // bytes
	replication, permission string
}

func knownOptions() []options.Option[settings] {
	return append(kerberos.Known(func(s *settings) *kerberos.Options { return &s.kerberos }), []options.Option[settings]{
		{Name: "namenodes", Read: options.Texts(func(s *settings) *[]string { return &s.namenodes }, checkNode)},
		{Name: "context", Read: options.Text(func(s *settings) *string { return &s.context }, checkContext)},
		{Name: "tls", Read: options.Truth(func(s *settings) *bool { return &s.tls })},
		{Name: "ca", Read: options.Text(func(s *settings) *string { return &s.ca }, nil)},
		{Name: "proxy", Read: options.Text(func(s *settings) *string { return &s.proxy }, options.CheckURL)},
		{Name: "user", Read: options.Text(func(s *settings) *string { return &s.user }, nil)},
		{Name: "basic", Read: options.Text(func(s *settings) *string { return &s.basic }, options.CheckReference)},
		{Name: "delegation_token", Read: options.Text(func(s *settings) *string { return &s.delegationToken }, options.CheckReference)},
		{Name: "host_map", Read: options.Pairs(func(s *settings) *map[string]string { return &s.hosts }, "[dn1.internal=10.0.0.5, dn2:9864=localhost:19864]")},
		{Name: "checksum", Read: options.Truth(func(s *settings) *bool { return &s.checksum })},
		{Name: "retries", Read: options.Whole(func(s *settings) *int { return &s.retries }, 1, 100)},
		{Name: "timeout", Read: options.Duration(func(s *settings) *time.Duration { return &s.timeout })},
		{Name: "block_size", Shape: true, Read: func(s *settings, v any) (err error) {
			s.block, err = options.ParseSize(v, maxBlock)
			if err != nil || s.block%chunk != 0 {
				return fmt.Errorf("is %v, and must be a size in MiB, or a multiple of %d bytes", v, chunk)
			}
			return nil
		}},
		{Name: "replication", Shape: true, Read: func(s *settings, v any) error {
			n := 0
			err := options.Whole(func(*settings) *int { return &n }, 1, 512)(s, v)
			s.replication = fmt.Sprint(n)
			return err
		}},
		{Name: "permission", Shape: true, Read: options.Text(func(s *settings) *string { return &s.permission }, checkPermission)},
	}...)
}

func checkNode(host string) error {
	if err := namenode.CheckHost(host); err != nil {
		return fmt.Errorf("has a NameNode that is none: %w", err)
	}
	return nil
}

func checkContext(v string) error {
	if !strings.HasPrefix(v, "/") || path.Clean(v) != v || strings.ContainsAny(v, "?#%") {
		return fmt.Errorf("is %q, and must be the path that a gateway has before /webhdfs/v1: /gateway/default", v)
	}
	return nil
}

var octal = regexp.MustCompile(`^[01]?[0-7]{3}$`)

func checkPermission(v string) error {
	if !octal.MatchString(v) {
		return fmt.Errorf("is %s, and must be octal digits in quotes: \"640\"", v)
	}
	return nil
}

// read reads options, all that is wrong with them at once.
func read(given map[string]any) (settings, error) {
	s := settings{checksum: true, retries: defaultRetries, timeout: defaultTimeout, block: defaultBlock}
	err := options.Read(scheme, knownOptions(), given, &s)
	return s, errors.Join(err, s.check())
}

// check compares options with each other.
func (s settings) check() error {
	var errs []error
	if s.ca != "" && !s.tls {
		errs = append(errs, errors.New("webhdfs option ca needs tls: true"))
	}
	if s.basic != "" && !s.tls {
		errs = append(errs, errors.New("webhdfs option basic needs tls: true: the password would be sent over http for all to read"))
	}
	if s.user != "" && s.delegationToken != "" {
		errs = append(errs, errors.New("webhdfs option user is not used with a delegation_token, which says who we are: give one of them"))
	}
	if s.kerberos.Use && (s.user != "" || s.delegationToken != "" || s.basic != "") {
		errs = append(errs, errors.New("webhdfs option kerberos says who we are: it is not used with user, delegation_token or basic"))
	}
	errs = append(errs, s.kerberos.Check(scheme))
	for from, to := range s.hosts {
		for _, host := range []string{from, to} {
			if err := namenode.CheckHost(host); err != nil {
				errs = append(errs, fmt.Errorf("webhdfs option host_map: %w", err))
			}
		}
		if strings.Contains(from, ":") != strings.Contains(to, ":") && strings.Contains(to, ":") {
			errs = append(errs, fmt.Errorf("webhdfs option host_map has a port for %s and none in it: write host:port=host:port, or host=host", from))
		}
	}
	return errors.Join(errs...)
}

// expand checks what a job says of a destination.
func expand(to string, given map[string]any, _ int64) (stage.Place, error) {
	at, err := namenode.ParseAddress(scheme, to)
	_, optionsErr := read(given)
	if err := errors.Join(err, optionsErr); err != nil {
		return stage.Place{}, err
	}
	reach, shape := options.Split(knownOptions(), given)
	return stage.Place{To: at.String(), Reach: reach, Shape: shape}, nil
}

// settingsOf reads the options of a destination in a plan.
func settingsOf(at stage.Place) (settings, error) { return read(options.Join(at.Reach, at.Shape)) }

// base is the address of a NameNode's WebHDFS.
func (s settings) base(host string) string {
	u := url.URL{Scheme: "http", Host: host, Path: s.context + "/webhdfs/v1"}
	port := httpPort
	if s.tls {
		u.Scheme, port = "https", httpsPort
	}
	if !strings.Contains(host, ":") {
		u.Host = host + ":" + port
	}
	return u.String()
}

// mapped is where a server is reached that a redirect names.
func (s settings) mapped(u *url.URL) {
	to, ok := s.hosts[u.Host]
	if !ok {
		to, ok = s.hosts[u.Hostname()]
	}
	if !ok {
		return
	}
	if port := u.Port(); port != "" && !strings.Contains(to, ":") {
		to += ":" + port
	}
	u.Host = to
}
