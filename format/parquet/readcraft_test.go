package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"
)

// Files that no writer at hand makes, put together by hand: a schema's elements, and pages of any header and body.

type crafted struct {
	schema []pqformat.SchemaElement
	groups []craftedGroup
	claim  func(*pqformat.FileMetaData) // changes what the footer says
}

type craftedGroup struct {
	rows   int64
	chunks []craftedChunk
}

type craftedChunk struct {
	typ   pqformat.Type
	codec pqformat.CompressionCodec
	pages []craftedPage
	claim func(*pqformat.ColumnChunk)
}

type craftedPage struct {
	pqformat.PageHeader
	body []byte
}

// file gives the file's bytes.
func (c *crafted) file() []byte {
	b := []byte(magic)
	m := pqformat.FileMetaData{Version: 1, Schema: c.schema, RowGroups: []pqformat.RowGroup{}}
	for _, g := range c.groups {
		group := pqformat.RowGroup{NumRows: g.rows, Columns: []pqformat.ColumnChunk{}}
		for _, chunk := range g.chunks {
			d := pqformat.ColumnMetaData{Type: chunk.typ, Codec: chunk.codec, DataPageOffset: int64(len(b)), Encoding: []pqformat.Encoding{}, PathInSchema: []string{}}
			for _, p := range chunk.pages {
				b = append(append(b, marshal(&p.PageHeader)...), p.body...)
				d.NumValues += entriesOf(&p.PageHeader)
			}
			d.TotalCompressedSize = int64(len(b)) - d.DataPageOffset
			said := pqformat.ColumnChunk{MetaData: d}
			if chunk.claim != nil {
				chunk.claim(&said)
			}
			group.Columns = append(group.Columns, said)
		}
		m.NumRows += g.rows
		m.RowGroups = append(m.RowGroups, group)
	}
	if c.claim != nil {
		c.claim(&m)
	}
	footer := marshal(&m)
	b = append(b, footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), magic...)
}

func marshal(v any) []byte {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		panic(err)
	}
	return b
}

// el is an element of a schema: "optional int32 name", "repeated group name 2", the number being that of its children.
func el(repetition, name string, options ...func(*pqformat.SchemaElement)) pqformat.SchemaElement {
	e := pqformat.SchemaElement{Name: name}
	e.RepetitionType.Valid = true
	e.RepetitionType.V = map[string]pqformat.FieldRepetitionType{"required": pqformat.Required, "optional": pqformat.Optional, "repeated": pqformat.Repeated}[repetition]
	for _, o := range options {
		o(&e)
	}
	return e
}

func of(t pqformat.Type) func(*pqformat.SchemaElement) {
	return func(e *pqformat.SchemaElement) { e.Type.Valid, e.Type.V = true, t }
}

func length(n int32) func(*pqformat.SchemaElement) {
	return func(e *pqformat.SchemaElement) { e.TypeLength.Valid, e.TypeLength.V = true, n }
}

func kids(n int32) func(*pqformat.SchemaElement) {
	return func(e *pqformat.SchemaElement) { e.NumChildren.Valid, e.NumChildren.V = true, n }
}

func as(t deprecated.ConvertedType) func(*pqformat.SchemaElement) {
	return func(e *pqformat.SchemaElement) { e.ConvertedType.Valid, e.ConvertedType.V = true, t }
}

func digits(precision, scale int32) func(*pqformat.SchemaElement) {
	return func(e *pqformat.SchemaElement) {
		e.Precision.Valid, e.Precision.V, e.Scale.Valid, e.Scale.V = true, precision, true, scale
	}
}

func logical(t pqformat.LogicalTypeValue) func(*pqformat.SchemaElement) {
	return func(e *pqformat.SchemaElement) { e.LogicalType.Value = t }
}

// root puts a file's root before its elements.
func root(columns int32, elements ...pqformat.SchemaElement) []pqformat.SchemaElement {
	return append([]pqformat.SchemaElement{el("required", "schema", kids(columns))}, elements...)
}

// runs codes levels or indexes, each as a run of one.
func runs(values ...byte) (b []byte) {
	for _, v := range values {
		b = append(b, 2, v)
	}
	return b
}

func behindLength(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func int32s(values ...int32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func texts(values ...string) (b []byte) {
	for _, v := range values {
		b = append(b, behindLength([]byte(v))...)
	}
	return b
}

// page1 is a page of version 1. Levels that are nil are left out.
func page1(entries int, e pqformat.Encoding, rep, def, values []byte) craftedPage {
	var body []byte
	for _, levels := range [][]byte{rep, def} {
		if levels != nil {
			body = append(body, behindLength(levels)...)
		}
	}
	body = append(body, values...)
	p := craftedPage{body: body}
	p.Type, p.CompressedPageSize, p.UncompressedPageSize = pqformat.DataPage, int32(len(body)), int32(len(body))
	p.DataPageHeader.Valid = true
	p.DataPageHeader.V = pqformat.DataPageHeader{NumValues: int32(entries), Encoding: e, DefinitionLevelEncoding: pqformat.RLE, RepetitionLevelEncoding: pqformat.RLE}
	return p
}

// page2 is a page of version 2.
func page2(entries int, e pqformat.Encoding, rep, def, values []byte) craftedPage {
	p := craftedPage{body: bytes.Join([][]byte{rep, def, values}, nil)}
	p.Type, p.CompressedPageSize, p.UncompressedPageSize = pqformat.DataPageV2, int32(len(p.body)), int32(len(p.body))
	p.DataPageHeaderV2.Valid = true
	p.DataPageHeaderV2.V = pqformat.DataPageHeaderV2{NumValues: int32(entries), NumRows: int32(entries), Encoding: e,
		RepetitionLevelsByteLength: int32(len(rep)), DefinitionLevelsByteLength: int32(len(def))}
	return p
}

// dictPage is a dictionary.
func dictPage(count int, values []byte) craftedPage {
	p := craftedPage{body: values}
	p.Type, p.CompressedPageSize, p.UncompressedPageSize = pqformat.DictionaryPage, int32(len(values)), int32(len(values))
	p.DictionaryPageHeader.Valid = true
	p.DictionaryPageHeader.V = pqformat.DictionaryPageHeader{NumValues: int32(count), Encoding: pqformat.Plain}
	return p
}

// claims gives the page with another header.
func (p craftedPage) claims(change func(*pqformat.PageHeader)) craftedPage {
	change(&p.PageHeader)
	return p
}

// compressed gives the page with a body of another size.
func (p craftedPage) compressed(body []byte) craftedPage {
	p.body, p.CompressedPageSize = body, int32(len(body))
	return p
}

// summed gives the page with its checksum.
func (p craftedPage) summed() craftedPage {
	p.CRC = int32(crc32.ChecksumIEEE(p.body))
	return p
}

// oneColumn is a file of one column of one row group.
func oneColumn(rows int64, e pqformat.SchemaElement, codec pqformat.CompressionCodec, pages ...craftedPage) *crafted {
	return &crafted{schema: root(1, e), groups: []craftedGroup{{rows: rows, chunks: []craftedChunk{{typ: e.Type.V, codec: codec, pages: pages}}}}}
}
