//go:build !race

package pipeline_test

// stride is how many operations a sweep goes on at a time.
const stride = 1
