package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/clinkctl/clinkctl/stage/options"
)

// Time limits of what is not a request to the store itself.
const (
	imdsTimeout    = 2 * time.Second // of the machine's own credentials: where there are none, nobody answers
	dialTimeout    = 10 * time.Second
	defaultRegion  = "us-east-1" // of stores that have none
	idleKeptPerTry = 64
)

// client is a client of the store with the settings that it was made with.
type client struct {
	*s3.Client
	settings
	key     []byte // of customerKey; nil where there is none
	creds   aws.CredentialsProvider
	custom  bool // the endpoint is not AWS's own
	tls     bool
	buffers *buffers
}

// newClient finds region, endpoint and credentials as the AWS SDK does: environment, profile, web identity, container, the
// machine's role. Nothing is sent. wrap, which may be nil, is laid around every request.
func newClient(ctx context.Context, s settings, wrap func(http.RoundTripper) http.RoundTripper) (*client, error) {
	transport, err := s.transport()
	if err != nil {
		return nil, err
	}
	key, err := resolveKey(s.customerKey)
	if err != nil {
		return nil, fmt.Errorf("s3 option customer_key: %w", err)
	}
	load := []func(*config.LoadOptions) error{config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) {
		o.Client = imds.New(imds.Options{HTTPClient: &http.Client{Timeout: imdsTimeout}, Retryer: aws.NopRetryer{}})
	}), config.WithLogger(logging.Nop{})} // the SDK's own goes to stderr past our log, and says nothing that an answer does not
	if s.region != "" {
		load = append(load, config.WithRegion(s.region))
	}
	if s.profile != "" {
		load = append(load, config.WithSharedConfigProfile(s.profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("find the AWS configuration: %w", err)
	}
	c := &client{settings: s, key: key, creds: cfg.Credentials, buffers: &buffers{size: s.partSize}}
	c.Client = s3.NewFromConfig(cfg, func(o *s3.Options) { c.configure(o, transport, wrap) })
	if key != nil && !c.tls {
		return nil, errors.New("s3 option customer_key: the key would be sent over http for all to read; it needs an endpoint with https")
	}
	return c, nil
}

func (c *client) configure(o *s3.Options, transport http.RoundTripper, wrap func(http.RoundTripper) http.RoundTripper) {
	if c.endpoint != "" {
		o.BaseEndpoint = aws.String(c.endpoint)
	}
	c.custom = o.BaseEndpoint != nil
	c.tls = !c.custom || strings.HasPrefix(*o.BaseEndpoint, "https:")
	if o.Region == "" {
		o.Region = defaultRegion
	}
	o.UsePathStyle = c.pathStyle == "true" || c.pathStyle == "auto" && c.custom
	if wrap != nil {
		transport = wrap(transport)
	}
	o.HTTPClient = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	// Checksums are ours to choose and to send: what the SDK adds by itself breaks some stores, and is not in the handle.
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	o.DisableLogOutputChecksumValidationSkipped = true
	o.Retryer = &refreshing{retry.NewStandard(func(r *retry.StandardOptions) { r.MaxAttempts = c.retries }), c.creds}
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return errors.Join(stack.Initialize.Add(middleware.InitializeMiddlewareFunc("clinkctl:timeout", c.limited), middleware.After),
			stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("clinkctl:discreet", discreet), middleware.Before))
	})
}

// limited gives every call its time limit, all its tries together.
func (c *client) limited(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	if _, body := in.Parameters.(*s3.GetObjectInput); body { // it is read after the call has ended
		return next.HandleInitialize(ctx, in)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return next.HandleInitialize(ctx, in)
}

// unsigned leaves a body's bytes out of the signature where TLS protects them: their SHA-256 costs more than sending them.
func (c *client) unsigned(o *s3.Options) {
	if c.tls {
		o.APIOptions = append(o.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
	}
}

// transport is how requests travel: TLS is verified, always, by the system's authorities and those of the option ca.
func (s settings) transport() (http.RoundTripper, error) {
	roots, err := s.roots()
	if err != nil {
		return nil, err
	}
	var proxy *url.URL
	if s.proxy != "" {
		if proxy, err = url.Parse(s.proxy); err != nil {
			return nil, fmt.Errorf("s3 option proxy: %w", err)
		}
	} else if err := checkProxies(); err != nil {
		return nil, err
	}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		t.MaxIdleConnsPerHost = max(idleKeptPerTry, 2*s.parallel)
		t.MaxIdleConns = 2 * t.MaxIdleConnsPerHost
		t.ResponseHeaderTimeout = s.timeout
		t.ForceAttemptHTTP2 = false
		if proxy != nil {
			t.Proxy = http.ProxyURL(proxy)
		}
	}).GetTransport(), nil
}

// checkProxies refuses addresses of proxies in the environment that cannot be read: requests would go past the proxy without
// a word. What is there is not told, since it may have a password.
func checkProxies() error {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		v := os.Getenv(name)
		if v != "" && !strings.Contains(v, "://") {
			v = "http://" + v
		}
		u, err := url.Parse(v)
		if v != "" && (err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)) {
			return fmt.Errorf("the variable %s is no address of a proxy: write http://host:port, or http://user:password@host:port with %%XX for what is special in them", name)
		}
	}
	return nil
}

// roots are the authorities that are trusted; nil are the system's.
func (s settings) roots() (*x509.CertPool, error) {
	file, what := s.ca, "s3 option ca"
	if file == "" {
		file, what = os.Getenv("AWS_CA_BUNDLE"), "AWS_CA_BUNDLE"
	}
	if file == "" {
		return nil, nil
	}
	return options.Roots(what, file)
}
