package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/clinkctl/clinkctl/format"
)

// option is a setting: a key of the job's file, a flag and a variable of the environment.
type option struct {
	path string // of the key; "" for what no file says
	flag string // "" for the path with dashes
	help string
}

// jobOptions are the settings of a job. Flags about sinks describe the first one.
func jobOptions() []option {
	return []option{
		{"name", "", "name of the job (default: the file's name)"},
		{"guarantee", "", "refuse what cannot give it: exactly_once, which with a key does not depend on this state directory"},
		{"source.path", "from", "files to export, may have wildcards"},
		{"source.format", "from-format", "format of the source (default: by extension)"},
		{"source.columns", "columns", "columns, such as id:int64,amount:decimal(18,2)! (! where a value is required)"},
		{"source.sample_rows", "sample-rows", "rows that columns are inferred from where none are declared (default 20000)"},
		{"source.split_bytes", "", "cut larger files, such as 256MiB (default: by the number of subtasks)"},
		{"sinks.0.to", "to", "folder to export to"},
		{"sinks.0.format", "format", "format to write (default: the source's)"},
		{"subtasks", "", "writers of a run (default 1)"},
		{"checkpoint.bytes", "", "bytes of source in an artifact (default 512MiB)"},
		{"checkpoint.rows", "", "rows in an artifact (default: no bound)"},
		{"on_pending", "", "undecided runs of the job that died: resume or abort (default resume)"},
		{"on_empty", "", "a source without rows: skip, write or fail (default skip)"},
		{"on_bad_row", "", "a record that is refused: fail or reject (default fail: it ends the run)"},
		{"rejects_to", "", "folder for records that are refused, where on_bad_row is reject"},
		{"max_rejects", "", "how many records may be refused (default 1000)"},
		{"commit_wait", "", "how long a destination that does not answer is asked again (default 30s)"},
		{"max_run", "", "how long a run may take (default 6h); destinations must keep what is staged longer than this and max_downtime"},
		{"max_downtime", "", "how long a run that failed may lie still until it is carried on (default 12h)"},
		stateOption(), graceOption(),
	}
}

func stateOption() option {
	return option{"state", "", "state directory (default: ~/.local/state/clinkctl)"}
}

func graceOption() option {
	return option{"grace", "", "from the first SIGTERM or SIGINT until everything is cancelled (default 8s)"}
}

// Settings of a command, not of a job.
func keyOption() option {
	return option{"", "key", "idempotency key: what was committed under it is done"}
}
func againOption() option { return option{"", "again", "the N-th further export of a committed key"} }
func waitOption() option {
	return option{"", "wait", "how long to wait for a run that another process holds (default 0s)"}
}
func progressOption() option {
	return option{"", "progress", "auto, bar, lines, json or none (default auto: a bar on a terminal)"}
}
func logFormatOption() option { return option{"", "log-format", "text or json (default text)"} }

// workOptions are those of commands that work on runs.
func workOptions() []option {
	return []option{waitOption(), progressOption(), logFormatOption()}
}

// name is the flag's name.
func (o option) name() string {
	if o.flag != "" {
		return o.flag
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(o.path)
}

// env is the variable's name.
func (o option) env() string {
	return variables + strings.ToUpper(strings.ReplaceAll(o.name(), "-", "_"))
}

// variables begins the names of variables.
const variables = "CLINKCTL_"

// unknownVariables warns of variables of the environment that look like settings and are none. CLINKCTL_TEST_ is for tests.
func unknownVariables(environ []string, options []option) (warnings []string) {
	var known []string
	for _, o := range options {
		known = append(known, strings.TrimPrefix(o.env(), variables))
	}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		rest, ok := strings.CutPrefix(name, variables)
		if !ok || strings.HasPrefix(rest, "TEST_") || slices.Contains(known, rest) {
			continue
		}
		w := "the variable " + name + " is no setting, and does nothing"
		if near := format.Nearest(rest, known); near != "" {
			w += "; did you mean " + variables + near + "?"
		}
		warnings = append(warnings, w)
	}
	return warnings
}

var inList = regexp.MustCompile(`\.\d+\.`)

// listed tells whether the setting is one of an element of a list, which viper cannot lay over another one.
func (o option) listed() bool { return inList.MatchString(o.path) }

// key is the setting's key for viper.
func (o option) key() string {
	switch {
	case o.path == "":
		return "--" + o.flag
	case o.listed():
		return o.path
	}
	return strings.ReplaceAll(o.path, ".", delimiter)
}

// addFlags adds the flags of some settings. All are texts: what they hold is checked where the file's values are.
func addFlags(flags *pflag.FlagSet, options ...option) {
	for _, o := range options {
		flags.Var(&once{}, o.name(), o.help)
	}
}

// once is a text that can be given once: of two, one would be lost without a word.
type once struct {
	text  string
	given bool
}

func (o *once) String() string { return o.text }
func (o *once) Type() string   { return "string" }

// Set takes the text.
func (o *once) Set(text string) error {
	if o.given {
		return errors.New("it is given twice")
	}
	o.text, o.given = text, true
	return nil
}
