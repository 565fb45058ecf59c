package webhdfs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/clinkctl/clinkctl/stage/namenode"
)

// upload is a file on its way to a DataNode: the body of one request, which is sent while it is written.
type upload struct {
	client *client
	name   string
	body   *body
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer   // ends the request when nothing moves
	done   chan struct{} // closed when the server has answered
	err    error         // what it has answered, once done is closed
}

var errGivenUp = errors.New("the upload was given up")

// Create asks the NameNode for a DataNode, and begins to send. Nothing is made before the DataNode has the request, and every
// block is synced to its disk when it is whole.
func (c *client) Create(ctx context.Context, name string) (namenode.Upload, error) {
	params := []string{"overwrite", "false", "createparent", "false", "createflag", "CREATE,SYNC_BLOCK", "blocksize", strconv.FormatInt(c.block, 10)}
	if c.replication != "" {
		params = append(params, "replication", c.replication)
	}
	if c.permission != "" {
		params = append(params, "permission", c.permission)
	}
	a, err := c.ask(ctx, http.MethodPut, name, "CREATE", c.noRedirect(params...)...)
	if err != nil {
		return nil, err
	}
	to, err := c.redirect(a)
	if err != nil {
		return nil, fmt.Errorf("CREATE %s: %w", name, err)
	}
	u := &upload{client: c, name: name, body: newBody(), done: make(chan struct{})}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	u.timer = time.AfterFunc(c.timeout, func() { u.cancel(errStalled) })
	go u.run(to.String())
	return u, nil
}

func (u *upload) run(target string) {
	defer close(u.done)
	response, err := u.client.send(u.ctx, http.MethodPut, target, "", u.body)
	if err == nil {
		var a answer
		if a, err = u.client.receive(u.ctx, response); err == nil && a.status != http.StatusCreated {
			err = fmt.Errorf("%s answers %d to an upload, and not 201", response.Request.URL.Host, a.status)
		}
	}
	if err == nil && !u.body.whole.Load() {
		err = errors.New("the server has answered before the end")
	}
	u.err = err
	_ = u.body.Close() // is always nil
}

// Write sends. An error is what the server has said, where it has said something.
func (u *upload) Write(p []byte) (int, error) {
	u.timer.Reset(u.client.timeout)
	n, err := u.body.Write(p)
	if err == nil {
		u.timer.Stop() // whoever writes may take his time
		return n, nil
	}
	<-u.done
	return n, fmt.Errorf("CREATE %s: %w", u.name, u.err)
}

// Finish ends the request's body, and waits for the answer.
func (u *upload) Finish(ctx context.Context) error {
	u.timer.Reset(u.client.timeout)
	defer u.timer.Stop()
	defer u.cancel(nil)
	u.body.Finish()
	select {
	case <-u.done:
	case <-ctx.Done():
		u.cancel(context.Cause(ctx))
		<-u.done
	}
	if u.err != nil {
		return fmt.Errorf("CREATE %s: %w", u.name, u.err)
	}
	return nil
}

// GiveUp cuts the connection. The DataNode closes the file with what it has got by then.
func (u *upload) GiveUp() {
	u.timer.Stop()
	u.cancel(errGivenUp)
	_ = u.body.Close() // is always nil
	<-u.done
}
