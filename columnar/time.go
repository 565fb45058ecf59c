package columnar

// The years that dates and timestamps can have: 0001-01-01 to 9999-12-31.
const (
	MinDate = -719162 // days since 1970-01-01
	MaxDate = 2932896

	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond

	MinTimestamp = MinDate * microsPerDay // microseconds since 1970-01-01T00:00:00
	MaxTimestamp = MaxDate*microsPerDay + microsPerDay - 1
)

// What the parsers of this file say.
const (
	errNotDate   Refusal = "is not a date: YYYY-MM-DD, years 0001 to 9999"
	errNoSuchDay Refusal = "is a day that no calendar has"
	errNotStamp  Refusal = "is not a timestamp: YYYY-MM-DD hh:mm:ss[.ffffff], years 0001 to 9999"
	errNoTime    Refusal = "has no time of day, which a timestamp needs"
	errLeap      Refusal = "has a second 60, which a timestamp cannot hold"
	errNoSuchT   Refusal = "is a time that no day has"
	errZone      Refusal = "has a time zone, which a timestamp cannot hold"
	errNanos     Refusal = "has more than 6 digits after the second, which a timestamp cannot hold"
	errDateRange Refusal = "is outside the years 0001 to 9999"
)

// DaysOf gives the days from 1970-01-01 to a day of the proleptic Gregorian calendar.
func DaysOf(year, month, day int) int32 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	ofEra := year - 400*era
	ofYear := (153*(month-3)+2)/5 + day - 1 // from March 1
	return int32(146097*era + 365*ofEra + ofEra/4 - ofEra/100 + ofYear - 719468)
}

// CivilOf is the inverse of DaysOf.
func CivilOf(days int32) (year, month, day int) {
	z := int(days) + 719468
	era := floorDiv(z, 146097)
	doe := z - 146097*era
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	m := (5*doy + 2) / 153
	year, month, day = yoe+400*era, m+3, doy-(153*m+2)/5+1
	if month > 12 {
		year++
		month -= 12
	}
	return year, month, day
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// two reads two digits; what is none gives a number above 99.
func two(b []byte) int {
	hi, lo := b[0]-'0', b[1]-'0'
	if hi > 9 || lo > 9 {
		return 1000
	}
	return 10*int(hi) + int(lo)
}

// ParseDate reads a date as 2006-01-02.
func ParseDate(text []byte) (int32, error) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, errNotDate
	}
	century, rest, month, day := two(text), two(text[2:]), two(text[5:]), two(text[8:])
	year := 100*century + rest
	switch {
	case century > 99 || rest > 99 || month > 99 || day > 99 || year == 0:
		return 0, errNotDate
	case month < 1 || month > 12 || day < 1 || day > daysIn(year, month):
		return 0, errNoSuchDay
	}
	return DaysOf(year, month, day), nil
}

// ParseTimestamp reads a timestamp as 2006-01-02 15:04:05, or with a T, and with a fraction of at most six digits, zeros
// beyond them aside.
func ParseTimestamp(text []byte) (int64, error) {
	if len(text) < 10 {
		return 0, errNotStamp
	}
	days, err := ParseDate(text[:10])
	if err != nil {
		if err == errNotDate {
			err = errNotStamp
		}
		return 0, err
	}
	rest := text[10:]
	if len(rest) == 0 {
		return 0, errNoTime
	}
	if len(rest) < 9 || rest[0] != ' ' && rest[0] != 'T' || rest[3] != ':' || rest[6] != ':' {
		return 0, errNotStamp
	}
	hour, minute, second := two(rest[1:]), two(rest[4:]), two(rest[7:])
	micros, err := fraction(rest[9:])
	switch {
	case hour > 99 || minute > 99 || second > 99:
		return 0, errNotStamp
	case err != nil:
		return 0, err
	case second == 60:
		return 0, errLeap
	case hour > 23 || minute > 59 || second > 60:
		return 0, errNoSuchT
	}
	return int64(days)*microsPerDay + int64(3600*hour+60*minute+second)*microsPerSecond + micros, nil
}

// fraction reads what follows the seconds, as microseconds.
func fraction(text []byte) (int64, error) {
	n := 0
	if len(text) > 0 && text[0] == '.' {
		text = text[1:]
		if n = digits(text); n == 0 {
			return 0, errNotStamp
		}
	}
	if n < len(text) {
		if isZone(text[n:]) {
			return 0, errZone
		}
		return 0, errNotStamp
	}
	micros := int64(0)
	for i := range 6 {
		micros *= 10
		if i < n {
			micros += int64(text[i] - '0')
		}
	}
	if n > 6 && !allZeros(text[6:]) {
		return 0, errNanos
	}
	return micros, nil
}

// isZone tells whether a text that follows a time looks like a zone: Z, +01:00, " Europe/Berlin".
func isZone(text []byte) bool {
	if text[0] == ' ' && len(text) > 1 {
		text = text[1:]
	}
	c := text[0] | 0x20
	return text[0] == '+' || text[0] == '-' || 'a' <= c && c <= 'z'
}

// AppendDate appends a date as 2006-01-02. One outside MinDate to MaxDate is an error.
func AppendDate(dst []byte, days int32) ([]byte, error) {
	if days < MinDate || days > MaxDate {
		return dst, errDateRange
	}
	year, month, day := CivilOf(days)
	dst = appendTwo(appendTwo(dst, year/100), year%100)
	dst = appendTwo(append(dst, '-'), month)
	return appendTwo(append(dst, '-'), day), nil
}

// AppendTimestamp appends a timestamp as 2006-01-02 15:04:05, and six digits of a fraction that is not 0. One outside
// MinTimestamp to MaxTimestamp is an error.
func AppendTimestamp(dst []byte, micros int64) ([]byte, error) {
	if micros < MinTimestamp || micros > MaxTimestamp {
		return dst, errDateRange
	}
	days := floorDiv(int(micros), microsPerDay)
	ofDay := int(micros) - days*microsPerDay
	dst, err := AppendDate(dst, int32(days))
	if err != nil {
		return dst, err
	}
	seconds, fraction := ofDay/microsPerSecond, ofDay%microsPerSecond
	dst = appendTwo(append(dst, ' '), seconds/3600)
	dst = appendTwo(append(dst, ':'), seconds/60%60)
	dst = appendTwo(append(dst, ':'), seconds%60)
	if fraction == 0 {
		return dst, nil
	}
	dst = appendTwo(append(dst, '.'), fraction/10000)
	return appendTwo(appendTwo(dst, fraction/100%100), fraction%100), nil
}

func appendTwo(dst []byte, v int) []byte {
	return append(dst, byte('0'+v/10), byte('0'+v%10))
}
