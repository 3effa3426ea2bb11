"""What a tree offers to people: flags of its command lines and HTTP endpoints, by the
syntax alone.
"""
