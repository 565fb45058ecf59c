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
	errNotTime   Refusal = "is not a time: hh:mm:ss[.ffffff]"
	errNoTime    Refusal = "has no time of day, which a timestamp needs"
	errLeap      Refusal = "has a second 60, which has no place among the microseconds of a day"
	errNoSuchT   Refusal = "is a time that no day has"
	errZone      Refusal = "has a time zone, which only a timestamptz can hold"
	errNoZone    Refusal = "has no time zone, without which it is no timestamptz: Z or +hh:mm"
	errNotZone   Refusal = "has a time zone that is neither Z nor +hh:mm, up to 18 hours"
	errNanos     Refusal = "has more than 6 digits after the second, which no type can hold"
	errTimeRange Refusal = "is outside a day"
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
	micros, rest, err := dateTime(text)
	switch {
	case err != nil:
		return 0, err
	case len(rest) == 0:
		return micros, nil
	case isZone(rest):
		return 0, errZone
	}
	return 0, errNotStamp
}

// ParseTimestampTZ reads a timestamp, as ParseTimestamp does, and its offset from UTC: Z, +01, +0100, +01:00 or +01:02:03, also after a space.
func ParseTimestampTZ(text []byte) (int64, error) {
	micros, rest, err := dateTime(text)
	if err != nil {
		return 0, err
	}
	if len(rest) == 0 {
		return 0, errNoZone
	}
	seconds, err := zone(rest)
	if err != nil {
		return 0, err
	}
	micros -= int64(seconds) * microsPerSecond
	if micros < MinTimestamp || micros > MaxTimestamp {
		return 0, errDateRange
	}
	return micros, nil
}

// ParseTime reads a time of day as 15:04:05, with a fraction as ParseTimestamp has it.
func ParseTime(text []byte) (int64, error) {
	micros, rest, err := ofDay(text)
	switch {
	case err == errNotStamp || err == nil && len(rest) > 0:
		return 0, errNotTime
	case err != nil:
		return 0, err
	}
	return micros, nil
}

// dateTime reads a date and a time of day, and gives what follows them.
func dateTime(text []byte) (micros int64, rest []byte, err error) {
	if len(text) < 10 {
		return 0, nil, errNotStamp
	}
	days, err := ParseDate(text[:10])
	if err == errNotDate {
		err = errNotStamp
	}
	if err != nil {
		return 0, nil, err
	}
	rest = text[10:]
	if len(rest) == 0 {
		return 0, nil, errNoTime
	}
	if rest[0] != ' ' && rest[0] != 'T' {
		return 0, nil, errNotStamp
	}
	micros, rest, err = ofDay(rest[1:])
	return int64(days)*microsPerDay + micros, rest, err
}

// ofDay reads hh:mm:ss[.ffffff], and gives what follows.
func ofDay(text []byte) (micros int64, rest []byte, err error) {
	if len(text) < 8 || text[2] != ':' || text[5] != ':' {
		return 0, nil, errNotStamp
	}
	hour, minute, second := two(text), two(text[3:]), two(text[6:])
	micros, rest, err = fraction(text[8:])
	switch {
	case hour > 99 || minute > 99 || second > 99:
		return 0, nil, errNotStamp
	case err != nil:
		return 0, nil, err
	case second == 60:
		return 0, nil, errLeap
	case hour > 23 || minute > 59 || second > 60:
		return 0, nil, errNoSuchT
	}
	return int64(3600*hour+60*minute+second)*microsPerSecond + micros, rest, nil
}

// fraction reads the fraction of a second, if there is one, as microseconds, and gives what follows.
func fraction(text []byte) (micros int64, rest []byte, err error) {
	if len(text) == 0 || text[0] != '.' {
		return 0, text, nil
	}
	n := digits(text[1:])
	if n == 0 {
		return 0, nil, errNotStamp
	}
	text, rest = text[1:1+n], text[1+n:]
	for i := range 6 {
		micros *= 10
		if i < n {
			micros += int64(text[i] - '0')
		}
	}
	if n > 6 && !allZeros(text[6:]) {
		return 0, nil, errNanos
	}
	return micros, rest, nil
}

// maxOffset is the most that a zone is away from UTC, in seconds: no zone ever was further.
const maxOffset = 18 * 3600

// zone reads an offset from UTC, in seconds. Those of times before there were zones have seconds.
func zone(text []byte) (int, error) {
	if text[0] == ' ' {
		text = text[1:]
	}
	if len(text) == 1 && text[0]|0x20 == 'z' {
		return 0, nil
	}
	if len(text) < 3 || text[0] != '+' && text[0] != '-' {
		return 0, errNotZone
	}
	hours, minutes, seconds := two(text[1:]), 0, 0
	switch rest := text[3:]; {
	case len(rest) == 0:
	case len(rest) == 2:
		minutes = two(rest)
	case len(rest) == 3 && rest[0] == ':':
		minutes = two(rest[1:])
	case len(rest) == 6 && rest[0] == ':' && rest[3] == ':':
		minutes, seconds = two(rest[1:]), two(rest[4:])
	default:
		return 0, errNotZone
	}
	offset := 3600*hours + 60*minutes + seconds
	if hours > 99 || minutes > 59 || seconds > 59 || offset > maxOffset {
		return 0, errNotZone
	}
	if text[0] == '-' {
		return -offset, nil
	}
	return offset, nil
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
	return appendOfDay(append(dst, ' '), ofDay), nil
}

// AppendTimestampTZ appends a timestamp of UTC, as AppendTimestamp does, and Z.
func AppendTimestampTZ(dst []byte, micros int64) ([]byte, error) {
	dst, err := AppendTimestamp(dst, micros)
	if err != nil {
		return dst, err
	}
	return append(dst, 'Z'), nil
}

// AppendTime appends a time of day as 15:04:05, and six digits of a fraction that is not 0. One outside a day is an error.
func AppendTime(dst []byte, micros int64) ([]byte, error) {
	if micros < 0 || micros >= microsPerDay {
		return dst, errTimeRange
	}
	return appendOfDay(dst, int(micros)), nil
}

func appendOfDay(dst []byte, micros int) []byte {
	seconds, fraction := micros/microsPerSecond, micros%microsPerSecond
	dst = appendTwo(dst, seconds/3600)
	dst = appendTwo(append(dst, ':'), seconds/60%60)
	dst = appendTwo(append(dst, ':'), seconds%60)
	if fraction == 0 {
		return dst
	}
	dst = appendTwo(append(dst, '.'), fraction/10000)
	return appendTwo(appendTwo(dst, fraction/100%100), fraction%100)
}

func appendTwo(dst []byte, v int) []byte {
	return append(dst, byte('0'+v/10), byte('0'+v%10))
}
