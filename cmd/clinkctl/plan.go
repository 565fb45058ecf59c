package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plan [JOB.yaml]",
		Short:   "Show what `run` would do, and write nothing anywhere",
		Example: "  clinkctl plan orders.yaml --key 2026-11-30",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE:    a.runPlan,
	}
	addRunFlags(cmd)
	return cmd
}

// planned is what `plan` tells.
type planned struct {
	Job         pipeline.Plan `json:"job"`
	State       string        `json:"state"`
	Grace       string        `json:"grace"`
	Guarantee   string        `json:"guarantee"`
	Columns     string        `json:"columns,omitempty"` // the flag that pins columns that were inferred
	Key         string        `json:"key,omitempty"`
	Again       int           `json:"again,omitempty"`
	DefaultKey  string        `json:"default_key,omitempty"` // where no key was given: the digest of plan and source
	PlanDigest  string        `json:"plan_digest"`
	Fingerprint string        `json:"fingerprint"` // of the source
	Files       []plannedFile `json:"files"`
	Bytes       int64         `json:"bytes"`            // of all files
	Memory      []plannedPart `json:"memory,omitempty"` // of the sinks' buffers
	Warnings    []string      `json:"warnings,omitempty"`
}

// plannedPart is the most memory that a sink's buffers take.
type plannedPart struct {
	To    string `json:"to"`
	Bytes int64  `json:"bytes"`
}

type plannedFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes
}

func (a *app) runPlan(cmd *cobra.Command, args []string) error {
	o, err := a.order(cmd, args)
	if err != nil {
		return err
	}
	if err := runstate.CheckHome(o.work.home.fsys, o.work.home.dir); err != nil {
		return &pipeline.Failure{Code: pipeline.Usage, Err: err}
	}
	p, err := a.plan(o)
	if err != nil {
		return err
	}
	if asksJSON(cmd) {
		return a.printJSON(p)
	}
	text, err := asYAML(p)
	if err != nil {
		return err
	}
	_, err = a.streams.Out.Write(text)
	return err
}

func (a *app) plan(o order) (planned, error) {
	plan := o.job.Plan
	p := planned{Job: plan, State: o.work.home.name, Grace: o.job.Grace.String(), Key: o.key, Again: o.again}
	var err error
	if p.PlanDigest, err = plan.Digest(); err != nil {
		return p, err
	}
	source, found, err := a.wiring.Sources().Find(context.Background(), plan)
	if err != nil {
		return p, sourceError(err)
	}
	if p.Job, source, err = a.engine(o.work.home).Inferred(context.Background(), plan, source); err != nil {
		return p, err
	}
	if plan.Infer {
		line, err := p.Job.ColumnsLine()
		if err != nil {
			return p, err
		}
		p.Columns = "--columns " + quoted(line)
	}
	if _, err := source.Head(context.Background()); err != nil {
		return p, sourceError(err)
	}
	var own struct {
		Files []plannedFile `json:"files"`
	}
	if err := json.Unmarshal(found.Own, &own); err != nil {
		return p, fmt.Errorf("the source's fingerprint: %w", err)
	}
	p.Fingerprint, p.Files, p.Bytes = found.Digest, own.Files, found.Bytes
	if p.Guarantee, err = a.engine(o.work.home).Guarantee(plan, o.key); err != nil {
		return p, err
	}
	if o.key == "" {
		p.DefaultKey = runstate.DigestOf(fmt.Appendf(nil, "%s %s", p.PlanDigest, p.Fingerprint))
	}
	if p.Memory, err = a.memory(plan); err != nil {
		return p, err
	}
	p.Warnings = a.planWarnings(o, found)
	return p, nil
}

// memory tells what the sinks' buffers take at most.
func (a *app) memory(plan pipeline.Plan) (all []plannedPart, err error) {
	for _, s := range plan.Sinks {
		b, err := a.wiring.Backend(s.To)
		if err != nil || b.Memory == nil {
			continue
		}
		n, err := b.Memory(s.Place(), plan.Subtasks)
		if err != nil {
			return nil, err
		}
		all = append(all, plannedPart{s.To, n})
	}
	return all, nil
}

// quoted gives a text in the quotes of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// planWarnings are what is no reason to refuse a run, and still worth a look.
func (a *app) planWarnings(o order, found pipeline.Fingerprint) []string {
	var warnings []string
	if found.Bytes == 0 {
		warnings = append(warnings, fmt.Sprintf("the source is empty; on_empty is %s", o.job.Plan.OnEmpty))
	}
	kind, err := o.work.home.fsys.Kind(o.work.home.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		warnings = append(warnings, fmt.Sprintf("the file system of the state directory cannot be told: %v", err))
	}
	if kind == "tmpfs" {
		warnings = append(warnings, "the state directory is in memory (tmpfs): it is lost with the machine, and with it what a run without --key has done")
	}
	return warnings
}

// sourceError gives an error of a source its exit code.
func sourceError(err error) error {
	if _, ok := errors.AsType[*pipeline.Failure](err); ok {
		return err
	}
	if _, ok := errors.AsType[*format.DataError](err); ok {
		return &pipeline.Failure{Code: pipeline.BadData, Err: err}
	}
	return &pipeline.Failure{Code: pipeline.World, Err: err}
}

// asYAML writes a value as its JSON would be in YAML, in the same order.
func asYAML(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return nil, err
	}
	plainStyle(&node)
	return yaml.Marshal(&node)
}

// plainStyle takes the quotes and braces of JSON away where YAML needs none.
func plainStyle(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		plainStyle(c)
	}
}
