package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// Publish gives the staged file its final name. Two processes may do so at once: one of them gives the name, the other
// finds it, and both sync before either answers.
func (s *sink) Publish(ctx context.Context, h runstate.Handle) error {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return err
	}
	defer leave()
	final, detail, err := s.seeFinal(ctx, p)
	switch {
	case err != nil:
		return err
	case final == other:
		return foreign(p, detail)
	case final == ours:
		return s.settled(p)
	}
	staged, detail, err := s.see(ctx, s.at(p.Staged), p)
	if err != nil {
		return err
	}
	if staged != ours {
		return s.overtaken(ctx, p, fmt.Errorf("nothing to publish: %s", detail))
	}
	if _, err := s.give(p.Method, s.at(p.Staged), s.at(h.Name)); err != nil {
		return s.overtaken(ctx, p, err)
	}
	return s.persistPublished(p)
}

// overtaken answers for a stage that could not be published when it was tried: another process may have been faster.
func (s *sink) overtaken(ctx context.Context, p promise, cause error) error {
	final, detail, err := s.seeFinal(ctx, p)
	switch {
	case err != nil:
		return errors.Join(cause, err)
	case final == ours:
		return s.settled(p)
	case final == other:
		return foreign(p, detail)
	}
	return fmt.Errorf("publish %s: %w; %s", p.handle.Name, cause, detail)
}

func foreign(p promise, detail string) error {
	return fmt.Errorf("publish %s: %w: %s", p.handle.Name, stage.ErrForeign, detail)
}

// settled makes durable what was found published, in the order in which it is published: after it the final name lasts,
// whoever gave it, and the stage is gone. The file itself may be a copy that somebody has put there.
func (s *sink) settled(p promise) error {
	if err := syncFile(s.fsys, s.at(p.handle.Name)); err != nil {
		return err
	}
	return s.persistPublished(p)
}

// persistPublished makes the final name durable before it takes away the staged one, so that power loss leaves one of them.
func (s *sink) persistPublished(p promise) error {
	if err := s.fsys.SyncDir(s.dir); err != nil {
		return err
	}
	if err := s.remove(s.at(p.Staged)); err != nil {
		return err
	}
	return s.syncStaging(p.run)
}

// Abort removes the staged file. Whether it was published is looked at before and, as another process may publish in
// between, after: without its stage it cannot be published any more, so that look decides.
func (s *sink) Abort(ctx context.Context, h runstate.Handle) error {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.refusePublished(ctx, p); err != nil {
		return err
	}
	if err := s.remove(s.at(p.Staged)); err != nil {
		return err
	}
	if err := s.refusePublished(ctx, p); err != nil {
		return err
	}
	if err := s.syncStaging(p.run); err != nil {
		return err
	}
	return s.check(p.ID)
}

// refusePublished answers ErrPublished if the artifact is published, after making that durable.
func (s *sink) refusePublished(ctx context.Context, p promise) error {
	final, detail, err := s.seeFinal(ctx, p)
	if err != nil || final != ours {
		return err
	}
	err = errors.Join(syncFile(s.fsys, s.at(p.handle.Name)), s.fsys.SyncDir(s.dir))
	return errors.Join(fmt.Errorf("abort %s: %w: %s", p.handle.Name, stage.ErrPublished, detail), err)
}

// begin enters a call that finishes a handle, at the destination that the handle speaks of.
func (s *sink) begin(ctx context.Context, h runstate.Handle) (leave func(), p promise, err error) {
	leave, err = s.enter(ctx)
	if err != nil {
		return nil, p, err
	}
	p, err = read(h)
	if err == nil {
		err = s.check(p.ID)
	}
	if err != nil {
		leave()
		return nil, p, err
	}
	return leave, p, nil
}

// give gives a file another name that nobody has, and never replaces: fs.ErrExist. With methodLink the old name stays.
// Where links are refused it renames, on file systems where that is one step to power loss. It tells how it was done.
func (s *sink) give(by method, old, name string) (method, error) {
	var refused error
	if by == methodLink {
		refused = s.fsys.Link(old, name)
		if refused == nil || !unsupported(refused) && !errors.Is(refused, syscall.EPERM) {
			return methodLink, refused
		}
	}
	kind, err := s.fsys.Kind(s.dir)
	if err != nil {
		return "", errors.Join(refused, err)
	}
	if !renamesAtomically(kind) {
		return "", s.refuse("has no hard links, and a rename there may not survive a power loss as one step", refused)
	}
	err = s.fsys.RenameNoReplace(old, name)
	if err != nil && unsupported(err) {
		return "", s.refuse("has no hard links, and no rename that never replaces", errors.Join(refused, err))
	}
	return methodRename, err
}

// unsupported tells the answers of a file system that lacks an operation from others.
func unsupported(err error) bool {
	return errors.Is(err, vfs.ErrUnsupported) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EINVAL)
}

// remove removes a file that another process may have removed already.
func (s *sink) remove(name string) error {
	if err := s.fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncStaging makes durable what was removed from a run's staging folder, which may itself be removed by now.
func (s *sink) syncStaging(run runstate.Token) error {
	err := s.fsys.SyncDir(s.stagingDir(run))
	if errors.Is(err, fs.ErrNotExist) {
		err = s.fsys.SyncDir(s.hidden())
	}
	return err
}
