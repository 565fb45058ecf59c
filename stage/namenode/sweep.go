package namenode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Sweep removes what is staged of the run and named by no live handle, folder by folder, and what a probe has left. A name
// that is not one of the run's artifacts' stays, and the run's folder with it.
func (s *Sink) Sweep(ctx context.Context, run runstate.Token, live []runstate.Handle) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, h := range live {
		if h.Backend != s.Backend {
			continue // staged at another sink
		}
		p, err := s.parse(h)
		if err != nil {
			return fmt.Errorf("sweep %s: %w", run, err)
		}
		keep[path.Base(path.Dir(p.Staged))] = true
	}
	if err := s.check(ctx); err != nil {
		return err
	}
	err = s.remove(ctx, s.in(path.Join(stage.Hidden, probePrefix+string(run))), true)
	return errors.Join(err, s.sweepManifest(ctx, run), s.sweep(ctx, run, keep))
}

// sweepManifest removes the folders that manifests of the run were being written in.
func (s *Sink) sweepManifest(ctx context.Context, run runstate.Token) error {
	all, err := s.Client.List(ctx, s.in(stage.Hidden))
	if err != nil {
		return err
	}
	var errs []error
	for _, is := range all {
		if strings.HasPrefix(is.Name, tmpPrefix+runstate.ManifestName(run)+"-") {
			errs = append(errs, s.remove(ctx, s.in(path.Join(stage.Hidden, is.Name)), true))
		}
	}
	return errors.Join(errs...)
}

func (s *Sink) sweep(ctx context.Context, run runstate.Token, keep map[string]bool) error {
	dir := s.in(runFolder(run))
	all, err := s.Client.List(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	left := 0
	for _, is := range all {
		a, err := parseFolder(is.Name)
		if err != nil || a.Run != run || keep[is.Name] || !is.Dir {
			left++
			continue
		}
		if err := s.remove(ctx, path.Join(dir, is.Name), true); err != nil {
			return err
		}
	}
	if left > 0 {
		return nil
	}
	if err := s.remove(ctx, dir, false); err != nil {
		if all, listErr := s.Client.List(ctx, dir); listErr == nil && len(all) > 0 { // somebody has staged in the meantime
			return nil
		}
		return err
	}
	return nil
}

// Found gives what is staged, of any run.
func (s *Sink) Found(ctx context.Context) ([]stage.Found, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	runs, err := s.Client.List(ctx, s.in(stage.Hidden))
	if err != nil {
		return nil, err
	}
	var found []stage.Found
	for _, run := range runs {
		if _, err := runstate.ParseToken(run.Name); err != nil || !run.Dir {
			continue
		}
		of, err := s.foundOf(ctx, runstate.Token(run.Name))
		if err != nil {
			return nil, err
		}
		found = append(found, of...)
	}
	return found, nil
}

func (s *Sink) foundOf(ctx context.Context, run runstate.Token) ([]stage.Found, error) {
	folders, err := s.Client.List(ctx, s.in(runFolder(run)))
	if errors.Is(err, fs.ErrNotExist) { // it has ended meanwhile
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []stage.Found
	for _, folder := range folders {
		a, err := parseFolder(folder.Name)
		if err != nil || a.Run != run {
			continue
		}
		f := stage.Found{Run: run, Name: a.Stem(), Since: folder.ModTime.UTC(), Parts: 1}
		is, err := s.Client.Stat(ctx, s.in(path.Join(runFolder(run), folder.Name, stagedFile)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		f.Bytes = is.Size
		found = append(found, f)
	}
	return found, nil
}

// Marks gives the names of the key marks that are there.
func (s *Sink) Marks(ctx context.Context) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	all, err := s.Client.List(ctx, s.in(stage.Hidden))
	if err != nil {
		return nil, err
	}
	var marks []string
	for _, is := range all {
		if strings.HasPrefix(is.Name, "key-") && strings.HasSuffix(is.Name, ".json") {
			marks = append(marks, path.Join(stage.Hidden, is.Name))
		}
	}
	return marks, nil
}
