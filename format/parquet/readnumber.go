package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
)

// Decimals and times, as they become ours.

// decimal makes the kind one of decimals.
func (k leafKind) decimal(t columnar.Type) leafKind {
	k.typ = t
	if t.Kind == 0 {
		return k
	}
	beyond := columnar.Refusal(fmt.Sprintf("has more than %d digits, which is all that the file says it has", t.Precision))
	add := func(v *values, n columnar.Int128, r *refusals) {
		if !n.Fits(t.Precision) {
			r.add(len(v.I64)+len(v.I128), string(columnar.AppendDecimal(nil, n, t.Scale)), beyond, adviceMend)
			n = columnar.Int128{}
		}
		if t.Precision <= columnar.Narrow {
			v.I64 = append(v.I64, int64(n.Lo))
		} else {
			v.I128 = append(v.I128, n)
		}
	}
	switch k.Type {
	case pqformat.Int32:
		k.become = func(raw, v *values, r *refusals) {
			for _, n := range raw.I32 {
				add(v, columnar.Int128Of(int64(n)), r)
			}
		}
	case pqformat.Int64:
		k.become = func(raw, v *values, r *refusals) {
			for _, n := range raw.I64 {
				add(v, columnar.Int128Of(n), r)
			}
		}
	default:
		k.become = func(raw, v *values, r *refusals) {
			for _, s := range raw.Str {
				n, err := bigEndian(raw.data[s.Off:][:s.Len])
				if err != nil {
					r.add(len(v.I64)+len(v.I128), "", err.(columnar.Refusal), adviceMend)
				}
				add(v, n, r)
			}
		}
	}
	return k
}

const (
	errNoNumber  columnar.Refusal = "is a decimal without bytes"
	errHugeBytes columnar.Refusal = "is a decimal that is too large for any type"
)

// bigEndian reads an integer in two's complement of any length. What 128 bits do not hold is a columnar.Refusal.
func bigEndian(b []byte) (n columnar.Int128, err error) {
	if len(b) == 0 {
		return n, errNoNumber
	}
	sign := byte(0)
	if b[0] >= 0x80 {
		sign = 0xff
	}
	for len(b) > 16 {
		if b[0] != sign || (b[1]^sign) >= 0x80 {
			return n, errHugeBytes
		}
		b = b[1:]
	}
	var wide [16]byte
	for i := range wide {
		wide[i] = sign
	}
	copy(wide[16-len(b):], b)
	return columnar.Int128OfBytes(wide), nil
}

// unit is one of time: so many microseconds, or so many to a microsecond; neither: a microsecond.
type unit struct {
	micros, parts int64
}

const (
	errNanos     columnar.Refusal = "has nanoseconds, which no type can hold"
	adviceNanos                   = "cast: lossy cuts them off"
	errTooFar    columnar.Refusal = "is beyond the range of a timestamp"
	errOfDay     columnar.Refusal = "is no time of a day"
	microsPerDay                  = 86_400_000_000
)

// count makes microseconds of a number of units, and gives the nanoseconds above them.
func (u unit) count(n int64) (micros, nanos int64, err error) {
	switch {
	case u.micros > 0:
		if n > math.MaxInt64/u.micros || n < math.MinInt64/u.micros {
			return 0, 0, errTooFar
		}
		return n * u.micros, 0, nil
	case u.parts > 0:
		micros, nanos = n/u.parts, n%u.parts
		if nanos < 0 {
			micros, nanos = micros-1, nanos+u.parts
		}
		return micros, nanos, nil
	}
	return n, 0, nil
}

// timestamp makes the kind one of timestamps, of UTC or of no time zone.
func (k leafKind) timestamp(utc bool, u unit) leafKind {
	k.typ = columnar.Type{Kind: columnar.Timestamp}
	if utc {
		k.typ = columnar.Type{Kind: columnar.TimestampTZ}
	}
	k.look = func(v *values, from int, r *refusals) {
		for i := from; i < len(v.I64); i++ {
			n := v.I64[i]
			micros, nanos, err := u.count(n)
			v.I64[i] = micros
			if err != nil {
				r.add(i, strconv.FormatInt(n, 10), err.(columnar.Refusal), adviceMend)
			} else if nanos > 0 && !r.lossy {
				r.add(i, withNanos(k.typ, micros, nanos), errNanos, adviceNanos)
			} else if micros < columnar.MinTimestamp || micros > columnar.MaxTimestamp {
				r.add(i, strconv.FormatInt(n, 10), errYears, adviceMend)
			}
		}
	}
	return k
}

// errYears is of dates and timestamps.
const errYears columnar.Refusal = "is outside the years 0001 to 9999"

// lookAtDates refuses days that no date has.
func lookAtDates(v *values, from int, r *refusals) {
	for i, day := range v.I32[from:] {
		if day < columnar.MinDate || day > columnar.MaxDate {
			r.add(from+i, strconv.Itoa(int(day)), errYears, adviceMend)
		}
	}
}

// timeOfDayIn is timeOfDay for the unit of an annotation.
func (k leafKind) timeOfDayIn(of pqformat.TimeUnit) leafKind {
	u, ok := unitOf(of)
	if k = k.timeOfDay(u); !ok {
		k.typ = columnar.Type{}
	}
	return k
}

// timeOfDay makes the kind one of times.
func (k leafKind) timeOfDay(u unit) leafKind {
	k.typ = columnar.Type{Kind: columnar.Time}
	look := func(v *values, from int, r *refusals) {
		for i := from; i < len(v.I64); i++ {
			n := v.I64[i]
			micros, nanos, err := u.count(n)
			v.I64[i] = micros
			if err != nil || micros < 0 || micros >= microsPerDay {
				r.add(i, strconv.FormatInt(n, 10), errOfDay, adviceMend)
			} else if nanos > 0 && !r.lossy {
				r.add(i, withNanos(k.typ, micros, nanos), errNanos, adviceNanos)
			}
		}
	}
	k.look = look
	if k.Type == pqformat.Int32 {
		k.look, k.become = nil, func(raw, v *values, r *refusals) {
			from := len(v.I64)
			for _, n := range raw.I32 {
				v.I64 = append(v.I64, int64(n))
			}
			look(v, from, r)
		}
	}
	return k
}

// withNanos gives the text of a time with its nanoseconds, for people.
func withNanos(t columnar.Type, micros, nanos int64) string {
	one := columnar.Vector{I64: []int64{micros}}
	text, err := one.Append(nil, t, 0)
	if err != nil {
		return fmt.Sprintf("%d.%03d microseconds", micros, nanos)
	}
	zone := ""
	if t.Kind == columnar.TimestampTZ {
		text, zone = text[:len(text)-1], "Z"
	}
	if micros%1_000_000 == 0 {
		text = append(text, ".000000"...)
	}
	return fmt.Sprintf("%s%03d%s", text, nanos, zone)
}

const (
	julianEpoch = 2440588    // the Julian day number of 1970-01-01
	maxDays     = 10_000_000 // more than any timestamp is away from it
)

// int96s reads nanoseconds of a day and a Julian day, as Impala, Hive and Spark wrote timestamps. They are taken to be of no time zone,
// as DuckDB, pyarrow and Polars take them.
func int96s(raw, v *values, r *refusals) {
	for _, s := range raw.Str {
		b := raw.data[s.Off:][:12]
		micros, nanos, _ := unit{parts: 1000}.count(int64(binary.LittleEndian.Uint64(b)))
		day, value := int64(int32(binary.LittleEndian.Uint32(b[8:])))-julianEpoch, len(v.I64)
		n := min(max(day, -maxDays), maxDays)*microsPerDay + micros
		switch {
		case n < columnar.MinTimestamp || n > columnar.MaxTimestamp:
			r.add(value, fmt.Sprintf("day %d", day), errYears, adviceMend)
		case nanos > 0 && !r.lossy:
			r.add(value, withNanos(columnar.Type{Kind: columnar.Timestamp}, n, nanos), errNanos, adviceNanos)
		}
		v.I64 = append(v.I64, n)
	}
}
