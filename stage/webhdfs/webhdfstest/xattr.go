package webhdfstest

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const longestXAttr = 16384

func (ns *Namespace) setXAttr(c *call) (answer, error) {
	name, flag := c.query.Get("xattr.name"), strings.ToUpper(c.unescaped("flag"))
	_, plain, _ := strings.Cut(name, ".")
	value := decodeXAttr(c.query.Get("xattr.value"))
	n := ns.find(c.path)
	switch {
	case name == "":
		return answer{}, requiredParameter("xattr.name", c.verb)
	case flag == "":
		return answer{}, requiredParameter("flag", c.verb)
	case plain == "":
		return answer{}, fail("HadoopIllegalArgumentException", "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'")
	case n == nil:
		return answer{}, fail("FileNotFoundException", "cannot find %s", c.path)
	case len(plain)+len(value) > longestXAttr:
		return answer{}, fail("HadoopIllegalArgumentException", "The XAttr is too big. The maximum combined size of the name and value is %d, but the total size is %d",
			longestXAttr, len(plain)+len(value))
	case n.xattrs[name] != nil && !strings.Contains(flag, "REPLACE"):
		return answer{}, fail("IOException", "XAttr: %s already exists. The REPLACE flag must be specified.", plain)
	case n.xattrs[name] == nil && !strings.Contains(flag, "CREATE"):
		return answer{}, fail("IOException", "XAttr: %s does not exist. The CREATE flag must be specified.", plain)
	}
	n.xattrs[name] = value
	return answer{status: http.StatusOK}, nil
}

// decodeXAttr reads a value in one of the three forms that there are. What is in none of them is text.
func decodeXAttr(text string) []byte {
	if len(text) > 1 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) {
		return []byte(text[1 : len(text)-1])
	}
	if len(text) > 2 {
		switch form, rest := strings.ToLower(text[:2]), text[2:]; form {
		case "0x":
			if value, err := hex.DecodeString(rest); err == nil {
				return value
			}
		case "0s":
			if value, err := base64.StdEncoding.DecodeString(rest); err == nil {
				return value
			}
		}
	}
	return []byte(text)
}

type xattr struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (ns *Namespace) getXAttrs(c *call) (answer, error) {
	encode, ok := map[string]func([]byte) string{
		"TEXT":   func(value []byte) string { return `"` + string(value) + `"` },
		"HEX":    func(value []byte) string { return "0x" + hex.EncodeToString(value) },
		"BASE64": func(value []byte) string { return "0s" + base64.StdEncoding.EncodeToString(value) },
	}[strings.ToUpper(c.query.Get("encoding"))]
	if !ok {
		return answer{}, requiredParameter("encoding", c.verb)
	}
	n := ns.find(c.path)
	if n == nil {
		return answer{}, fail("FileNotFoundException", "cannot find %s", c.path)
	}
	names := c.query["xattr.name"]
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(n.xattrs))
	}
	found := []xattr{}
	for _, name := range names {
		value, ok := n.xattrs[name]
		if !ok {
			return answer{}, fail("XAttrNotFoundException", "At least one of the attributes provided was not found.")
		}
		found = append(found, xattr{name, encode(value)})
	}
	return answerJSON(http.StatusOK, map[string][]xattr{"XAttrs": found}), nil
}
