"""Import modules one after the other; write which fail, and how. Arguments: GIVEN.json RESULT.json."""

import importlib
import json
import logging
import os
import re
import sys
import warnings


def said(error: BaseException) -> str:
    """Kind and text of an error, without what differs between two runs of the same program."""
    text = str(error).replace(root, "<tree>")
    return f"{type(error).__name__}: {re.sub(r'0x[0-9a-f]+', '0x', text)[:500]}"


given = json.load(open(sys.argv[1], encoding="utf-8"))
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
root = given["root"]
failed = {}
for name in given["modules"]:
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:
        failed[name] = said(error)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump({"failed": failed}, file)
# What modules started must not keep this process.
os._exit(0)
