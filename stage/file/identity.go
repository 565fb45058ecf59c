package file

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

const (
	idNote  = stage.IDNote
	idBytes = 16 // 128 bits
)

// openID learns which destination this is, and makes the id durable again: handles will speak of it. Of two processes that
// make one at the same time, the first to link it wins.
func (s *sink) openID(create bool) error {
	id, err := s.readID()
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := s.makeID(); err != nil {
			return err
		}
		id, err = s.readID()
	}
	if err != nil {
		return err
	}
	s.id = id
	_, err = s.note(idNote)
	return err
}

func (s *sink) makeID() error {
	id, err := s.randomHex()
	if err != nil {
		return err
	}
	err = s.put(idNote, []byte(id+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	s.madeID = err == nil
	return err
}

// unmakeID removes the id that Open has made, for a destination that can hold nothing: nobody else can have staged there.
func (s *sink) unmakeID() error {
	names, err := s.fsys.List(s.hidden())
	if err != nil || !s.madeID || len(names) != 1 {
		return err
	}
	return s.remove(s.at(idNote))
}

func (s *sink) randomHex() (string, error) {
	var b [idBytes]byte
	if _, err := io.ReadFull(s.random, b[:]); err != nil {
		return "", fmt.Errorf("random bits: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

func (s *sink) readID() (string, error) {
	data, err := vfs.ReadFile(s.fsys, s.at(idNote))
	if err != nil {
		return "", err
	}
	id, ok := strings.CutSuffix(string(data), "\n")
	if !ok || !isID(id) {
		return "", fmt.Errorf("%s does not hold an id: put the file back from a copy, its value is the \"id\" of the handles "+
			"that `clinkctl journal show` prints", s.at(idNote))
	}
	return id, nil
}

func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == idBytes && s == strings.ToLower(s)
}

// check makes sure that what is under the destination's path is the destination with this id. An absence that is seen
// between two checks is an absence at that destination.
func (s *sink) check(id string) error {
	is, err := s.readID()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s has no %s; is its volume mounted?", stage.ErrElsewhere, s.dir, idNote)
	case err != nil:
		return err
	case is != id:
		return fmt.Errorf("%w: %s has the id %s and not %s", stage.ErrElsewhere, s.dir, is, id)
	}
	return nil
}
