package hdfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"regexp"
	"strconv"
	"strings"
	"time"

	colinmarc "github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/kerberos"
	"github.com/clinkctl/clinkctl/stage/namenode"
	"github.com/clinkctl/clinkctl/stage/options"
)

// rpcPort is the port of a NameNode that no port is given for.
const rpcPort = "8020"

// Defaults.
const (
	defaultBlock   = 128 << 20 // bytes
	defaultRetries = 8
	defaultTimeout = time.Minute
	maxBlock       = 1 << 40
	chunk          = 512 // bytes that a checksum is of: a block is made of such
)

// settings are the options of a destination, read.
type settings struct {
	// How NameNodes are reached: nothing of this changes what is written.
	namenodes []string
	conf      string // folder of Hadoop's configuration files
	user      string
	checksum  bool
	retries   int           // tries of a call
	timeout   time.Duration // of a read or write on a connection
	kerberos  kerberos.Options
	principal string // of the NameNodes
	transfer  string // how what goes to DataNodes is protected
	// What files are.
	block       int64 // bytes
	replication int   // 0: the NameNode's
	permission  fs.FileMode

	options colinmarc.ClientOptions // what the configuration files say
}

func knownOptions() []options.Option[settings] {
	return append(kerberos.Known(func(s *settings) *kerberos.Options { return &s.kerberos }), []options.Option[settings]{
		{Name: "namenode_principal", Read: options.Text(func(s *settings) *string { return &s.principal }, nil)},
		{Name: "data_transfer_protection", Read: options.Text(func(s *settings) *string { return &s.transfer }, options.OneOf("authentication", "integrity", "privacy"))},
		{Name: "namenodes", Read: options.Texts(func(s *settings) *[]string { return &s.namenodes }, namenode.CheckHost)},
		{Name: "conf", Read: options.Text(func(s *settings) *string { return &s.conf }, nil)},
		{Name: "user", Read: options.Text(func(s *settings) *string { return &s.user }, nil)},
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
		{Name: "replication", Shape: true, Read: options.Whole(func(s *settings) *int { return &s.replication }, 1, 512)},
		{Name: "permission", Shape: true, Read: func(s *settings, v any) error {
			t, ok := v.(string)
			if !ok || !octal.MatchString(t) {
				return fmt.Errorf("is %v, and must be octal digits in quotes: \"640\"", v)
			}
			n, err := strconv.ParseUint(t, 8, 32)
			s.permission = fs.FileMode(n)
			return err
		}},
	}...)
}

var octal = regexp.MustCompile(`^[01]?[0-7]{3}$`)

// read reads options, all that is wrong with them at once.
func read(given map[string]any) (settings, error) {
	s := settings{checksum: true, retries: defaultRetries, timeout: defaultTimeout, block: defaultBlock}
	err := options.Read(scheme, knownOptions(), given, &s)
	return s, errors.Join(err, s.check())
}

// check compares options with each other.
func (s settings) check() error {
	if s.kerberos.Use && s.user != "" {
		return errors.New("hdfs option kerberos says who we are: it is not used with user")
	}
	return s.kerberos.Check(scheme)
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

// configure finds what the job does not say: Hadoop's configuration files and the environment have it.
func (c *client) configure() error {
	conf, err := hadoopconf.LoadFromEnvironment()
	if c.conf != "" {
		if conf, err = hadoopconf.Load(c.conf); err == nil && conf == nil {
			err = fmt.Errorf("%s has no core-site.xml and no hdfs-site.xml", c.conf)
		}
	}
	if err != nil {
		return fmt.Errorf("the configuration of Hadoop: %w", err)
	}
	c.options = colinmarc.ClientOptionsFromConf(conf)
	if c.nodes, err = c.nodesOf(conf); err != nil {
		return err
	}
	if c.transfer != "" {
		c.options.DataTransferProtection = c.transfer
	}
	if c.kerberos.Use || c.options.KerberosClient != nil {
		return c.loginWithKerberos()
	}
	if c.user == "" {
		c.user = os.Getenv("HADOOP_USER_NAME")
	}
	if c.user == "" {
		u, err := user.Current()
		if err != nil {
			return fmt.Errorf("who we are: %w; there is the option user", err)
		}
		c.user = u.Username
	}
	return nil
}

// loginWithKerberos prepares a login where the job or Hadoop's configuration asks for one.
func (c *client) loginWithKerberos() (err error) {
	c.options.KerberosClient = nil // the library has put one there that can do nothing
	if c.principal != "" {
		c.options.KerberosServicePrincipleName, _, _ = strings.Cut(c.principal, "@")
	}
	if c.options.KerberosServicePrincipleName == "" {
		return errors.New("the principal of the NameNodes is not known: Hadoop's hdfs-site.xml says it as dfs.namenode.kerberos.principal, and the option namenode_principal: nn/_HOST")
	}
	c.login, err = kerberos.New(c.kerberos)
	return err
}

// nodesOf are the addresses of the NameNodes of a destination.
func (c *client) nodesOf(conf hadoopconf.HadoopConf) ([]string, error) {
	hosts := c.namenodes
	if len(hosts) == 0 {
		hosts = []string{c.at.Host}
		if ids := conf["dfs.ha.namenodes."+c.at.Host]; ids != "" {
			hosts = nil
			for id := range strings.SplitSeq(ids, ",") {
				name := "dfs.namenode.rpc-address." + c.at.Host + "." + strings.TrimSpace(id)
				if conf[name] == "" {
					return nil, fmt.Errorf("the configuration of Hadoop names the NameNode %s of %s, and has no %s", id, c.at.Host, name)
				}
				hosts = append(hosts, conf[name])
			}
		}
	}
	var nodes []string
	for _, h := range hosts {
		if !strings.Contains(h, ":") {
			h += ":" + rpcPort
		}
		nodes = append(nodes, h)
	}
	return nodes, nil
}
