package options_test

import (
	"strings"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage/options"
)

type settings struct {
	user  string
	n     int
	wait  time.Duration
	on    bool
	hosts map[string]string
	nodes []string
}

func all() []options.Option[settings] {
	return []options.Option[settings]{
		{Name: "user", Shape: true, Read: options.Text(func(s *settings) *string { return &s.user }, options.OneOf("ann", "bob"))},
		{Name: "n", Read: options.Whole(func(s *settings) *int { return &s.n }, 1, 3)},
		{Name: "wait", Read: options.Duration(func(s *settings) *time.Duration { return &s.wait })},
		{Name: "on", Read: options.Truth(func(s *settings) *bool { return &s.on })},
		{Name: "hosts", Read: options.Pairs(func(s *settings) *map[string]string { return &s.hosts }, "[a=b]")},
		{Name: "nodes", Read: options.Texts(func(s *settings) *[]string { return &s.nodes }, options.CheckURL)},
	}
}

func TestRead(t *testing.T) {
	var s settings
	given := map[string]any{"user": "ann", "n": 2, "wait": "3s", "on": "true", "hosts": []any{"a=b=c"}, "nodes": []any{"https://h:1"}}
	if err := options.Read("x", all(), given, &s); err != nil {
		t.Fatal(err)
	}
	if s.user != "ann" || s.n != 2 || s.wait != 3*time.Second || !s.on || s.hosts["a"] != "b=c" || s.nodes[0] != "https://h:1" {
		t.Fatalf("%+v", s)
	}
	reach, shape := options.Split(all(), given)
	if len(reach) != 5 || len(shape) != 1 || len(options.Join(reach, shape)) != 6 {
		t.Fatal(reach, shape)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"user", "eve", "x option user is \"eve\", and can be ann, bob"},
		{"user", true, "must be a text"},
		{"n", 4, "from 1 to 3"},
		{"wait", "0s", "must be a duration"},
		{"on", "maybe", "true or false"},
		{"hosts", []any{"a"}, "list of name=value: [a=b]"},
		{"hosts", []any{"a=1", "a=2"}, "has a twice"},
		{"nodes", "h", "must be a list"},
		{"nodes", []any{"http://u:p@h"}, "would be journaled"},
		{"usr", "", "did you mean user?"},
		{"nothing", "", "there are user, n, wait"},
	} {
		var s settings
		if err := options.Read("x", all(), map[string]any{c.name: c.value}, &s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v", c.name, c.value, err)
		}
	}
}

func TestSizes(t *testing.T) {
	for v, want := range map[any]int64{"1KiB": 1024, "2 MiB": 2 << 20, 7: 7, "1GiB": 1 << 30} {
		if n, err := options.ParseSize(v, 1<<30); err != nil || n != want {
			t.Error(v, n, err)
		}
	}
	for _, v := range []any{"1MB", "-1", 0, "2GiB", "", "9999999999999GiB"} {
		if n, err := options.ParseSize(v, 1<<30); err == nil {
			t.Error(v, n)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Setenv("OPTIONS_TEST", "open sesame")
	if v, err := options.Secret("env:OPTIONS_TEST"); err != nil || string(v) != "open sesame" {
		t.Fatal(string(v), err)
	}
	for _, bad := range []string{"env:OPTIONS_TEST_NONE", "file:/dev/null", "file:/none"} {
		if _, err := options.Secret(bad); err == nil {
			t.Error(bad)
		}
	}
	if options.CheckReference("open sesame") == nil || options.CheckReference("env:X") != nil {
		t.Error("references")
	}
}
