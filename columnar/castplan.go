package columnar

import (
	"fmt"
	"slices"
)

// rule is how values of one type are cast to another that is not made of others.
type rule struct {
	least   Cast // that allows it
	reason  string
	advice  string
	values  func(c *Caster, src, dst *Vector)
	rounded Refusal // what CastExact refuses and CastLossy does not
}

// What casts that are not allowed are advised with, and values that CastExact refuses.
const (
	adviceExact = "cast: exact refuses those, where the column is declared"
	adviceRound = "cast: exact refuses those, cast: lossy rounds them off, where the column is declared"
	adviceUTC   = "cast: exact takes the zone to be UTC, where the column is declared"
	adviceDrop  = "cast: lossy leaves it out, where the column is declared"
	adviceLossy = "cast: lossy rounds it off, where the column is declared"
)

// plan chooses what casts the values.
func (c *Caster) plan(cast Cast) error {
	from, to := c.from.Type, c.to.Type
	switch {
	case from.Kind == List && to.Kind == List:
		return c.planList(cast)
	case from.Kind == Struct && to.Kind == Struct:
		return c.planStruct(cast)
	}
	r := ruleFor(from, to, cast == CastLossy)
	switch {
	case r.values == nil:
		return c.refuseCast(fmt.Sprintf("%s cannot be cast to %s", from, to), "")
	case cast < r.least:
		return c.refuseCast(r.reason, r.advice)
	}
	c.values, c.rounded = r.values, r.rounded
	return nil
}

func (c *Caster) refuseCast(reason, advice string) error {
	return &CastError{Path: c.path, From: c.from.Type, To: c.to.Type, Reason: reason, Advice: advice}
}

func (c *Caster) planList(cast Cast) error {
	kid, err := newCaster(c.from.Type.Fields[0], c.to.Type.Fields[0], cast, c, join(c.path, Element))
	c.kids, c.picks, c.values = []*Caster{kid}, []int{0}, castNested
	return err
}

func (c *Caster) planStruct(cast Cast) error {
	c.values = castNested
	from := c.from.Type.Fields
	for _, field := range c.to.Type.Fields {
		pick := slices.IndexFunc(from, func(f Column) bool { return f.Name == field.Name })
		var kid *Caster
		switch {
		case pick < 0 && field.Required:
			return c.refuseCast(fmt.Sprintf("field %s is required, and %s has none", field.Name, c.from.Type), "without ! it becomes NULL")
		case pick >= 0:
			var err error
			if kid, err = newCaster(from[pick], field, cast, c, join(c.path, field.Name)); err != nil {
				return err
			}
		}
		c.kids, c.picks = append(c.kids, kid), append(c.picks, pick)
	}
	return c.planDropped(cast)
}

// planDropped sees to fields of from that become nothing.
func (c *Caster) planDropped(cast Cast) error {
	for i, f := range c.from.Type.Fields {
		if cast < CastLossy && !slices.Contains(c.picks, i) {
			return c.refuseCast(fmt.Sprintf("%s has no field %s", c.to.Type, f.Name), adviceDrop)
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func castNested(c *Caster, src, dst *Vector) {
	if c.to.Type.Kind == List {
		dst.Len = append(dst.Len, src.Len...)
	}
	for i, kid := range c.kids {
		if kid == nil {
			for range len(src.Valid) - src.Nulls {
				dst.Kids[i].Null()
			}
			continue
		}
		kid.cast(&src.Kids[c.picks[i]], &dst.Kids[i])
		if c.job.err != nil {
			return
		}
	}
}

// isFixed tells whether values of a kind are integers times a power of ten.
func isFixed(k Kind) bool { return Int8 <= k && k <= Uint64 || k == Decimal }

func isFloat(k Kind) bool { return k == Float32 || k == Float64 }

func isStamp(k Kind) bool { return k == Timestamp || k == TimestampTZ }

// ruleFor gives the rule of two types, neither of which is made of others. One without values is no rule.
func ruleFor(from, to Type, lossy bool) rule {
	numbers := (isFixed(from.Kind) || isFloat(from.Kind)) && (isFixed(to.Kind) || isFloat(to.Kind))
	var r rule
	switch {
	case from.Equal(to):
		return rule{values: copyValues}
	case numbers:
		r = numberRule(from, to, lossy)
	case from.Kind.Nested() || to.Kind.Nested():
		return r
	case from.Kind == String || to.Kind == String:
		r = textRule(from, to, lossy)
	case from.Kind == Binary || to.Kind == Binary:
		r = binaryRule(from, to)
	default:
		r = timeRule(from, to, lossy)
	}
	if r.reason == "" {
		r.reason = fmt.Sprintf("%s has values that %s has not", from, to)
	}
	return r
}

func textRule(from, to Type, lossy bool) rule {
	switch {
	case from.Kind == JSON, to.Kind == Binary:
		return rule{values: copyValues}
	case from.Kind == Binary:
		return rule{least: CastExact, advice: adviceExact, values: checkText(isUTF8)}
	case to.Kind == JSON:
		return rule{least: CastExact, advice: adviceExact, values: checkText(isJSON)}
	case to.Kind == String:
		return rule{values: makeText}
	case lossy:
		return rule{least: CastExact, values: parseText(true)}
	}
	return rule{least: CastExact, advice: adviceExact, values: parseText(false), rounded: roundedText(to)}
}

func binaryRule(from, to Type) rule {
	switch {
	case from.Kind == UUID:
		return rule{values: bytesOfUUID}
	case to.Kind == UUID:
		return rule{least: CastExact, advice: adviceExact, values: uuidOfBytes}
	}
	return rule{}
}

func timeRule(from, to Type, lossy bool) rule {
	switch {
	case from.Kind == Date && to.Kind == Timestamp:
		return rule{values: midnight}
	case from.Kind == Date && to.Kind == TimestampTZ:
		return rule{least: CastExact, reason: "date has no time zone, which timestamptz needs", advice: adviceUTC, values: midnight}
	case from.Kind == Timestamp && to.Kind == TimestampTZ:
		return rule{least: CastExact, reason: "timestamp has no time zone, which timestamptz needs", advice: adviceUTC, values: copyValues}
	case from.Kind == TimestampTZ && to.Kind == Timestamp:
		return rule{least: CastExact, reason: "timestamptz has a time zone, which timestamp cannot hold", advice: adviceUTC, values: copyValues}
	case isStamp(from.Kind) && to.Kind == Date:
		return rule{least: CastExact, advice: adviceRound, values: days(lossy), rounded: errTimeOfDay}
	}
	return rule{}
}
