"""What well-known tools find in a generated tree and do not find in its upstream, and why.

ruff, vulture, pyrefly and pydeps know nothing of shrinker's rules: what they see differently is
looked at. Each of their new findings has a reason that is computed from the two trees and the run's
reports, or it is a finding of this check.
"""
