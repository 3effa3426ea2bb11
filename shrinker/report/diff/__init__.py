"""What a reviewer must know of two generated trees, before and besides their text.

Everything is read from what two runs left: manifests, reports, the trees themselves, and the two
upstreams where they can be read. Nothing is decided again.
"""
