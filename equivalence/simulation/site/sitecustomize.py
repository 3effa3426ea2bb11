"""First on PYTHONPATH of a simulated process and of all that it starts: puts the simulation in
place.
"""

import os
import sys

if os.environ.get("SHRINKER_SIMULATE"):
    # The folder that holds the package `shrinker`, for one import only: nothing else of it is to be
    # found.
    _root = os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    )
    sys.path.insert(0, _root)
    try:
        from equivalence.simulation.inside import install
    finally:
        sys.path.remove(_root)
    install()
