"""Import what the server imports; write the time, what was loaded, and the memory. Arguments: GIVEN.json RESULT.json."""

import importlib
import importlib.metadata
import os
import sys
import time

from equivalence.processes import given, tell

asked = given()
start = time.perf_counter()
used = time.process_time()
for name in asked["modules"]:
    importlib.import_module(name)
seconds = time.perf_counter() - start
used = time.process_time() - used
with open("/proc/self/status" if os.path.exists("/proc/self/status") else os.devnull, encoding="utf-8") as file:
    resident = [int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:")]
owners = importlib.metadata.packages_distributions()
loaded = sorted(sys.modules)
tops = {name.partition(".")[0] for name in loaded}
result = {
    "seconds": seconds,
    "processor": used,
    "memory": resident[0] if resident else 0,
    "modules": [name for name in loaded if name.partition(".")[0] == "sglang"],
    "distributions": sorted({owner for top in tops for owner in owners.get(top, ())}),
}
tell(result)
