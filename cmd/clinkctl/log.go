package main

import (
	"log/slog"

	"github.com/clinkctl/clinkctl/format"
)

// setLog makes the log of a command.
func (a *app) setLog(kind string) error {
	switch kind {
	case "", "text":
		a.log = slog.New(slog.NewTextHandler(a.err, nil))
	case "json":
		a.log, a.machine = slog.New(slog.NewJSONHandler(a.err, nil)), true
	default:
		return badChoice(logFormatOption(), kind, "text", "json")
	}
	return nil
}

func badChoice(o option, value string, values ...string) error {
	hint := ""
	if near := format.Nearest(value, values); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return usage("--%s is %q, and can be %v%s", o.name(), value, values, hint)
}
