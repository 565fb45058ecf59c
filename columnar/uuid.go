package columnar

const errNotUUID Refusal = "is not a uuid: 8-4-4-4-12 hexadecimal digits"

// ParseUUID reads a UUID as RFC 9562 writes it, with digits of either case.
func ParseUUID(text []byte) (Int128, error) {
	if len(text) != 36 {
		return Int128{}, errNotUUID
	}
	var v Int128
	for i, c := range text {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return Int128{}, errNotUUID
			}
			continue
		}
		var d byte
		switch {
		case c-'0' <= 9:
			d = c - '0'
		case c|0x20-'a' <= 5:
			d = c | 0x20 - 'a' + 10
		default:
			return Int128{}, errNotUUID
		}
		v = Int128{Hi: v.Hi<<4 | int64(v.Lo>>60), Lo: v.Lo<<4 | uint64(d)}
	}
	return v, nil
}

// AppendUUID appends a UUID with small letters.
func AppendUUID(dst []byte, v Int128) []byte {
	const hex = "0123456789abcdef"
	for i, c := range v.BigEndian() {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hex[c>>4], hex[c&15])
	}
	return dst
}

// Int128OfBytes is the inverse of BigEndian.
func Int128OfBytes(b [16]byte) Int128 {
	var v Int128
	for i := range 8 {
		v.Hi = v.Hi<<8 | int64(b[i])
		v.Lo = v.Lo<<8 | uint64(b[8+i])
	}
	return v
}
