package lines

import (
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

func TestEveryLineIsARecord(t *testing.T) {
	file := "\xef\xbb\xbfa\n\n\"b\r\n \nlast"
	b, err := formattest.Decode(Format{}, nil, []byte(file))
	if err != nil || b.Rows != 5 || string(b.Data) != file+"\n" {
		t.Fatalf("%d rows, %q, %v", b.Rows, b.Data, err)
	}
	out, err := formattest.Encode(Format{}, format.Target{}, b, b)
	if err != nil || string(out) != file+"\n"+file+"\n" {
		t.Errorf("wrote %q, %v", out, err)
	}
}

func TestHeadOfTheSourceIsWrittenOnce(t *testing.T) {
	b := &columnar.Batch{Rows: 1, Data: []byte("1,a\n")}
	out, err := formattest.Encode(Format{}, format.Target{Schema: &columnar.Schema{}, Head: []byte("\xef\xbb\xbfid,name")}, b, &columnar.Batch{}, b)
	if err != nil || string(out) != "id,name\n1,a\n1,a\n" {
		t.Errorf("wrote %q, %v", out, err)
	}
}

func TestColumnsAreRefused(t *testing.T) {
	schema := formattest.ParseSchema("a:string")
	if _, err := (Format{}).NewDecoder(format.Reading{Schema: schema, Head: nil}); err == nil || !strings.Contains(err.Error(), "copied unparsed") {
		t.Error(err)
	}
	if _, err := formattest.Encode(Format{}, format.Target{Schema: schema}); err == nil || !strings.Contains(err.Error(), "without columns") {
		t.Error(err)
	}
	if _, err := Kind().New(map[string]any{"x": 1}); err == nil || !strings.Contains(err.Error(), "is unknown") {
		t.Error(err)
	}
	if f, err := Kind().New(nil); err != nil || f.Name() != "lines" || f.Ext() != "txt" {
		t.Error(f, err)
	}
}
