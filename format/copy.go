package format

import (
	"io"

	"github.com/clinkctl/clinkctl/columnar"
)

// CopyRecords begins a file of records that are copied unparsed: the head, as CleanHead has it, then each batch's Data.
func CopyRecords(w io.Writer, head []byte) (Encoder, error) {
	if head = CleanHead(head); len(head) > 0 {
		if _, err := w.Write(head); err != nil {
			return nil, err
		}
	}
	return copier{w}, nil
}

type copier struct{ w io.Writer }

func (c copier) Encode(b *columnar.Batch) error {
	if len(b.Data) == 0 {
		return nil
	}
	_, err := c.w.Write(b.Data)
	return err
}

func (c copier) Close() error { return nil }
