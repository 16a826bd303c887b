"""YAML files that people write, read safely: nothing in them is run."""

import re
from pathlib import Path

from shufflelib.numerics.optional import remedy
from shufflelib.numerics.typed_numbers import WHOLE, ambiguous, typed

EXPONENT = re.compile(r"[-+]?(\d+\.?|\d*\.\d+)[eE][-+]?\d+$")


def load(path, needs):
    """Return what a YAML file says, read safely: nothing in it is run.

    Parameters
    ----------
    path : str or os.PathLike
        A file with one mapping.
    needs : str
        What to say if PyYAML is missing.

    Raises
    ------
    ValueError, OSError
        In one line, if the file cannot be read or is not YAML.
    ImportError
        If PyYAML is missing; it says what to install.
    """
    with remedy(needs):
        import yaml

    class Loader(yaml.SafeLoader):
        """Reads 1e-8 as a number, as YAML 1.2 does, and refuses a key that is given twice."""

        def construct_mapping(self, node, deep=False):
            keys = [key.value for key, _ in node.value]
            for place, (key, _) in enumerate(node.value):
                if key.value in keys[:place]:
                    problem = f"{key.value} is given twice; keep one"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            return super().construct_mapping(node, deep)

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+.0123456789"))
    try:
        loader = Loader(Path(path).read_bytes())
        node = loader.get_single_node()
        misread = [
            f"line {one.start_mark.line + 1}: {name} must be a number read in one way, got {one.value}"
            for name, one in _numbers(node, set())
            if _is_misread(name, one.value, loader.construct_object(one))
        ]
        found = None if node is None else loader.construct_document(node)
    except OSError as wrong:
        raise type(wrong)(f"cannot read {path}: {wrong.strerror}; name a YAML file") from None
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        reason = getattr(wrong, "problem", None) or str(wrong).splitlines()[0]
        raise ValueError(f"no YAML: {where}{reason}") from None
    if misread:
        raise ValueError(f"{misread[0]}; write thousands as 100000, and no zero in front")
    return found


def _numbers(node, seen, name=None):
    """Yield the numbers of a file that begin with a digit, each with the key of its line."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if node.id == "mapping":
        for key, value in node.value:
            yield from _numbers(value, seen, f"{key.value}" if name is None else name)
    elif node.id == "sequence":
        for value in node.value:
            yield from _numbers(value, seen, name)
    elif node.tag.endswith((":int", ":float")) and node.value[:1].isdigit():
        yield name, node


def _is_misread(name, text, value):
    """Return whether people read a number otherwise than YAML: 100.000 users, 0100 or 1:30."""
    if name in WHOLE and ambiguous(text):
        return True
    try:
        return typed(text.replace("_", "")) != value
    except ValueError:
        return True
