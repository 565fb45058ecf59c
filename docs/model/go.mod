module github.com/clinkctl/clinkctl/docs/model

go 1.26
