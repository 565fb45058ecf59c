package columnar

import "fmt"

var castNames = [...]string{CastSafe: "safe", CastExact: "exact", CastLossy: "lossy"}

// String gives the cast as ParseCast reads it.
func (c Cast) String() string {
	if int(c) < len(castNames) {
		return castNames[c]
	}
	return fmt.Sprintf("cast(%d)", uint8(c))
}

// ParseCast reads the name of a cast; "" is CastSafe.
func ParseCast(name string) (Cast, error) {
	for c, n := range castNames {
		if n == name || name == "" {
			return Cast(c), nil
		}
	}
	return 0, fmt.Errorf("cast %q is not known: there are safe, exact and lossy", name)
}
