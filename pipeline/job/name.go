package job

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// maxName bounds a job's name, in bytes: it is the name of a folder.
const maxName = 100

var (
	goodName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	badRunes = regexp.MustCompile(`[^a-z0-9._-]+`)
)

// name gives the job's name: its own, else its file's, else one that is made of the source.
func (d *decoding) name(top *section, p *pipeline.Plan) string {
	if name := top.text("name", ""); name != "" {
		if err := checkName(name); err != nil {
			top.problem("name", "%v", err)
		}
		return name
	}
	if d.env.File != "" {
		base := path.Base(d.env.File)
		if name := tame(strings.TrimSuffix(base, path.Ext(base))); name != "" {
			return name
		}
	}
	return defaultName(p)
}

// defaultName is made of the source's name and a digest of what the job exports.
func defaultName(p *pipeline.Plan) string {
	h := runstate.NewHasher()
	_, _ = fmt.Fprintf(h, "%q\n", p.Source.Path) // cannot fail
	for _, s := range p.Sinks {
		_, _ = fmt.Fprintf(h, "%q %q %q\n", s.To, s.Format, s.Ext)
	}
	_, sum, _ := strings.Cut(h.Digest(), ":")
	base := path.Base(p.Source.Path)
	stem := tame(strings.TrimSuffix(base, path.Ext(base)))
	if stem == "" {
		stem = "export"
	}
	return stem + "-" + sum[:8]
}

// checkName tells what is wrong with the name of a job.
func checkName(name string) error {
	if !goodName.MatchString(name) {
		return fmt.Errorf("is %q, and must be lower-case letters, digits, dots, underscores and hyphens, and begin with a letter or digit", name)
	}
	if len(name) > maxName {
		return fmt.Errorf("has %d bytes, and can have %d", len(name), maxName)
	}
	if _, err := runstate.ParseToken(name); err == nil {
		return fmt.Errorf("is %q, which looks like the token of a run", name)
	}
	return nil
}

// tame makes a name of any text, "" if nothing is left of it.
func tame(text string) string {
	name := badRunes.ReplaceAllString(strings.ToLower(text), "-")
	name = strings.TrimRight(strings.TrimLeft(name, "._-"), "._-")
	if len(name) > maxName-9 {
		name = strings.TrimRight(name[:maxName-9], "._-")
	}
	if checkName(name) != nil {
		return ""
	}
	return name
}
