"""What stands in `inside` runs in the simulated interpreter, started by `test_environment`."""

import os

from equivalence.simulation.settings import SWITCH

collect_ignore_glob = [] if os.environ.get(SWITCH) else ["inside"]
