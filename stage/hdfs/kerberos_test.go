package hdfs_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	colinmarc "github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/clinkctl/clinkctl/stage/hdfs"
	"github.com/clinkctl/clinkctl/stage/kerberos"
	"github.com/clinkctl/clinkctl/stage/stagetest"
)

// kerberosCluster is the one that CLINKCTL_TEST_KERBEROS_HDFS names, where everybody logs in and all is encrypted.
func kerberosCluster(t *testing.T) *cluster {
	t.Helper()
	host, dir := os.Getenv("CLINKCTL_TEST_KERBEROS_HDFS"), os.Getenv("CLINKCTL_TEST_KERBEROS_DIR")
	if host == "" {
		t.Skip(`CLINKCTL_TEST_KERBEROS_HDFS names no NameNode: eval "$(CLINKCTL_TEST_KERBEROS=1 scripts/services/hdfs start DIR)"`)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	login, err := kerberos.New(kerberos.Options{Use: true, Keytab: in("etl.keytab"), Principal: "etl", Config: in("krb5.conf")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(login.Close)
	conf, err := hadoopconf.Load(in("conf"))
	if err != nil {
		t.Fatal(err)
	}
	o := colinmarc.ClientOptionsFromConf(conf)
	o.Addresses = []string{host}
	if o.KerberosClient, err = login.Client(); err != nil {
		t.Fatal(err)
	}
	return newCluster(t, o, map[string]any{"conf": in("conf"), "principal": "etl", "keytab": in("etl.keytab"), "krb5_conf": in("krb5.conf"), "kerberos": true})
}

// The laws where everybody logs in.
func TestLawsWithKerberos(t *testing.T) {
	c := kerberosCluster(t)
	stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place { return c.place(t, name) })
}

// TestKerberosWithoutConfiguration has all of it in options, and some that are wrong.
func TestKerberosWithoutConfiguration(t *testing.T) {
	c := kerberosCluster(t)
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", "")
	delete(c.reach, "conf")
	for _, test := range []struct {
		name    string
		options map[string]any
		says    string // "" for success
	}{
		{"all", map[string]any{"namenode_principal": "hdfs/_HOST@CLINKCTL.TEST", "data_transfer_protection": "privacy"}, ""},
		{"no principal of NameNodes", nil, "namenode_principal"},
		{"another principal", map[string]any{"namenode_principal": "nn/_HOST"}, "nn/localhost"},
		{"nobody of the realm", map[string]any{"namenode_principal": "hdfs/_HOST", "principal": "nobody"}, "nobody"},
		{"a user", map[string]any{"namenode_principal": "hdfs/_HOST", "user": "etl"}, "says who we are"},
		{"no login", map[string]any{"kerberos": false}, "need kerberos: true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := c.at("options")
			for k, v := range test.options {
				at.Reach[k] = v
			}
			at.Reach["retries"] = 1
			sink, err := hdfs.Backend(hdfs.Env{Random: rand.Reader, Sleep: sleep}).Open(t.Context(), at, true)
			if err == nil {
				err = sink.Close()
			}
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Fatalf("want %q: %v", test.says, err)
			}
		})
	}
}
