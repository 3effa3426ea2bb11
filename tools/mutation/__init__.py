"""Does the evidence bite?

Faults are put into copies of a generated tree, and each level is asked whether it notices.

A fault stands for a wrong decision of the tool: the manifest of the copy says that the damaged file
is what was decided, so that no level finds it by the file's hash alone.
"""
