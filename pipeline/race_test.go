//go:build race

package pipeline_test

// stride is how many operations a sweep goes on at a time: the race detector makes each several times as slow, and what it
// looks for shows at any of them.
const stride = 5
