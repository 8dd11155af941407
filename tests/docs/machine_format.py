#!/usr/bin/env python3
"""docs/machine-format.md: every key of a machine file, from the schemas that the reader's tests hold to the reader.

    tests/docs/machine_format.py SOURCES            # exit 1 where the page is old
    tests/docs/machine_format.py SOURCES --update   # writes the page
"""
import json
import pathlib
import re
import sys

HEAD = """# Machine files

A machine is a YAML file: copy one, change its numbers, and examine networks on it.

```sh
eyeroof hw show npu-int8 -o mine.yaml      # an accelerator of the catalog, to change
eyeroof hw check mine.yaml                 # all errors at once, with line, column, and fix
eyeroof exam resnet50 --on mine.yaml
```

Every quantity is text with its unit (`200 MHz`, `64 KiB`, `51.2 GB/s`). It may also be a mapping
`{value: 51.2 GB/s, source: …, confidence: …, note: …}`. `source`, `confidence`, and `note` may stand in every mapping;
what is inside inherits the first two. Editors read the same keys from `hwdb/schema/*.schema.json`.
[formats.md](formats.md) has the other inputs, and [accelerator-model.md](accelerator-model.md) says what the numbers do.

"""
EVERYWHERE = {"source", "confidence", "note"}  # said once, above


def resolved(root, node):
    """A schema with its reference followed; what stands beside the reference counts."""
    if "$ref" in node:
        target = root
        for step in node["$ref"].split("/")[1:]:
            target = target[step]
        return {**resolved(root, target), **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def alternatives(root, node):
    node = resolved(root, node)
    if "properties" in node:  # alternatives beside properties only say which of them are required
        return [node]
    return [part for one in node.get("anyOf", node.get("oneOf", [])) for part in alternatives(root, one)] or [node]


def sourced(node):
    """The mapping {value, source, …} that every quantity may be."""
    return "value" in node.get("properties", {})


def kind(root, node):
    """What a value is, in words."""
    words = []
    for part in alternatives(root, node):
        if sourced(part):
            continue
        if "const" in part:
            words.append(f"`{json.dumps(part['const']).strip(chr(34))}`")
        elif "enum" in part:
            words.append(", ".join(f"`{value}`" for value in part["enum"]))
        elif part.get("examples"):
            words.append(" or ".join(f"`{value}`" for value in part["examples"][:2]))
        elif part.get("type") == "array":
            words.append("list of " + kind(root, part.get("items", {})))
        elif part.get("type") == "object":
            words.append("mapping")
        elif part.get("type"):
            words.append({"integer": "whole number", "boolean": "`true` or `false`", "string": "text"}.get(
                part["type"], part["type"]) if isinstance(part["type"], str) else " or ".join(part["type"]))
    return " or ".join(dict.fromkeys(words)) or "any"


def objects(root, node):
    """The mappings that a value holds, with their description."""
    for part in alternatives(root, node):
        if part.get("type") == "array":
            yield from objects(root, part.get("items", {}))
        elif part.get("type") == "object" and not sourced(part):
            yield part


def sections(root, node, path, text, seen):
    """A table for a mapping, then those of the mappings inside, each once."""
    rows, inside = [], []
    required = set(node.get("required", []))
    for key, value in node.get("properties", {}).items():
        if key in EVERYWHERE:
            continue
        whole = resolved(root, value)
        note = whole.get("description", "") + (" Required." if key in required else "")
        rows.append(f"| `{key}` | {kind(root, value)} | {note.strip()} |".replace("\n", " "))
        inside += [(f"{path}.{key}".lstrip("."), part) for part in objects(root, value)]
    further = node.get("additionalProperties")
    if isinstance(further, dict):
        rows.append(f"| *a name of yours* | {kind(root, further)} | {resolved(root, further).get('description', '')} |")
        inside += [(f"{path}.*".lstrip("."), part) for part in objects(root, further)]
    if path and rows:
        text.append(f"### `{path}`\n\n" + (node["description"] + "\n\n" if node.get("description") else ""))
    if rows:
        text.append("| key | value | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n\n")
    for where, part in inside:
        mark = json.dumps(part, sort_keys=True)
        if mark not in seen:
            seen.add(mark)
            sections(root, part, where, text, seen)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    text = [HEAD]
    for name, title in (("machine", "Accelerators"), ("gpu", "GPUs")):
        schema = json.loads((folder / "hwdb" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
        text.append(f"## {title}\n\n{schema['description']}\n\n")
        sections(schema, schema, "", text, set())
    made = re.sub(r"\n+$", "\n", "".join(text))
    page = folder / "docs" / "machine-format.md"
    if "--update" in sys.argv[2:]:
        page.write_text(made, encoding="utf-8")
        return 0
    if not page.exists() or page.read_text(encoding="utf-8") != made:
        print("docs/machine-format.md is older than hwdb/schema: ./bootstrap docs")
        return 1
    return 0


sys.exit(main())
