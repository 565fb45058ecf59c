package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"github.com/clinkctl/clinkctl/runstate"
)

// Visible gives the names in the destination's folder that are artifacts of the run.
func (s *sink) Visible(ctx context.Context, run runstate.Token) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.check(s.id); err != nil {
		return nil, err
	}
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return nil, err
	}
	var visible []string
	for _, name := range names {
		if a, err := runstate.ParseName(name); err == nil && a.Run == run {
			visible = append(visible, name)
		}
	}
	return visible, s.check(s.id)
}

// Sweep removes what is staged of the run and named by no live handle, unfinished manifests and a probe's remains
// included. A name that is not of the run's stays, and the folder with it.
func (s *sink) Sweep(ctx context.Context, run runstate.Token, live []runstate.Handle) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return err
	}
	keep := map[string]bool{} // names tell run, subtask, checkpoint and attempt
	for _, h := range live {
		if h.Backend != backendName {
			continue // staged at another sink
		}
		p, err := read(h)
		if err != nil {
			return fmt.Errorf("sweep %s: %w", run, err)
		}
		keep[path.Base(p.Staged)] = true
	}
	if err := s.check(s.id); err != nil {
		return err
	}
	return errors.Join(s.sweepStaging(run, keep), s.removeProbe(run), s.sweepNote(runstate.ManifestName(run)),
		s.fsys.SyncDir(s.hidden()))
}

func (s *sink) sweepStaging(run runstate.Token, keep map[string]bool) error {
	dir := s.stagingDir(run)
	names, err := s.fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	left := 0
	for _, name := range names {
		a, err := parseStaged(name)
		if err != nil || a.Run != run || keep[name] {
			left++
			continue
		}
		if err := s.remove(path.Join(dir, name)); err != nil {
			return err
		}
	}
	if left > 0 {
		return s.fsys.SyncDir(dir)
	}
	err = s.remove(dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) { // somebody has staged in the meantime
		return s.fsys.SyncDir(dir)
	}
	return err
}
