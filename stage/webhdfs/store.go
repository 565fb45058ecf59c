package webhdfs

import (
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/namenode"
)

// openStore opens HDFS to read from it. Paths are webhdfs://host:port/path.
func openStore(env Env, at stage.Place) (stage.Store, error) {
	c, err := connect(env, at)
	if err != nil {
		return nil, err
	}
	return &namenode.Store{Client: c, Prefix: c.at.Server(), Tries: c.retries, Sleep: env.Sleep}, nil
}
