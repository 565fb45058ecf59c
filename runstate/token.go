// Package runstate is what survives a crash: the tokens and names of runs, the handles of what they staged, and the
// journal whose fold is the whole state of a run.
package runstate

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// Token names one run, for ever. It is the UTC second in which the run began and 32 random bits, written so that tokens
// sort by time: 20261130t013000z7f3a9c1e.
type Token string

const tokenTime = "20060102t150405z"

// NewToken makes a token. random must give bytes that no other run gets.
func NewToken(now time.Time, random io.Reader) (Token, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random bits of a run's token: %w", err)
	}
	return Token(now.UTC().Format(tokenTime) + hex.EncodeToString(b[:])), nil
}

// ParseToken reads a token, and nothing that merely looks like one.
func ParseToken(s string) (Token, error) {
	if len(s) == len(tokenTime)+8 && lowerHex(s[len(tokenTime):]) {
		at, err := time.Parse(tokenTime, s[:len(tokenTime)])
		if err == nil && at.Format(tokenTime) == s[:len(tokenTime)] {
			return Token(s), nil
		}
	}
	return "", fmt.Errorf("%q is not the token of a run (20261130t013000z7f3a9c1e)", s)
}

// Began is the second in which the run of a valid token began.
func (t Token) Began() time.Time {
	at, _ := time.Parse(tokenTime, string(t[:min(len(t), len(tokenTime))])) // zero for what no ParseToken let through
	return at
}

func lowerHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
