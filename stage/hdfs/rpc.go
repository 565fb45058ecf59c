package hdfs

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	colinmarc "github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// The library's Rename replaces what has the new name, and nothing of it tells whether a file is still open. The protocol
// has calls that do neither wrong, and the library speaks it: its messages are registered with protobuf, and a Client's
// unexported field namenode has the method Execute. This file reaches for that, and is the only one that does. Where
// the library changes, TestReach fails, and every call here answers errUnreachable.

// errUnreachable says that the library is not as this file knows it.
var errUnreachable = errors.New("this binary's HDFS library does not let the call through that replaces nothing; use webhdfs://")

// executor is the library's connection to a NameNode.
type executor interface {
	Execute(method string, request, response proto.Message) error
}

// executorOf reaches a client's connection.
func executorOf(c *colinmarc.Client) (executor, error) {
	field := reflect.ValueOf(c).Elem().FieldByName("namenode")
	if !field.IsValid() || field.Kind() != reflect.Pointer || field.IsNil() {
		return nil, errUnreachable
	}
	e, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(executor)
	if !ok {
		return nil, errUnreachable
	}
	return e, nil
}

// execute makes a call of ClientProtocol, whose messages are called prefix with RequestProto and ResponseProto. fill sets the request's fields.
// https://github.com/apache/hadoop/blob/trunk/hadoop-hdfs-project/hadoop-hdfs-client/src/main/proto/ClientNamenodeProtocol.proto
func execute(c *colinmarc.Client, method, prefix string, fields map[protoreflect.Name]any) (protoreflect.Message, error) {
	e, err := executorOf(c)
	if err != nil {
		return nil, err
	}
	request, err := message(prefix + "RequestProto")
	if err != nil {
		return nil, err
	}
	response, err := message(prefix + "ResponseProto")
	if err != nil {
		return nil, err
	}
	for name, value := range fields {
		field := request.Descriptor().Fields().ByName(name)
		if field == nil {
			return nil, fmt.Errorf("%w: %s has no %s", errUnreachable, prefix, name)
		}
		request.Set(field, protoreflect.ValueOf(value))
	}
	return response, e.Execute(method, request.Interface(), response.Interface())
}

func message(name string) (protoreflect.Message, error) {
	t, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("hadoop.hdfs." + name))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	return t.New(), nil
}

// renameKeeping gives a file another name, and replaces nothing.
func renameKeeping(c *colinmarc.Client, from, to string) error {
	_, err := execute(c, "rename2", "Rename2", map[protoreflect.Name]any{"src": from, "dst": to, "overwriteDest": false})
	return err
}

// isOpen tells whether a file is still being written.
func isOpen(c *colinmarc.Client, name string) (bool, error) {
	response, err := execute(c, "getBlockLocations", "GetBlockLocations", map[protoreflect.Name]any{"src": name, "offset": uint64(0), "length": uint64(1)})
	if err != nil {
		return false, err
	}
	locations := response.Descriptor().Fields().ByName("locations")
	if locations == nil || !response.Has(locations) {
		return false, fmt.Errorf("%s: the NameNode shows no blocks of it", name)
	}
	blocks := response.Get(locations).Message()
	open := blocks.Descriptor().Fields().ByName("underConstruction")
	if open == nil {
		return false, errUnreachable
	}
	return blocks.Get(open).Bool(), nil
}
