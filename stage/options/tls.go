package options

import (
	"crypto/x509"
	"fmt"
	"os"
)

// Roots are the authorities of the system and those in a file in PEM. what names the setting that the file comes from.
func Roots(what, file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("the system's certificates: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s holds no certificate in PEM", what, file)
	}
	return roots, nil
}
