"""Two consecutive commits of upstream, one after the other: what the second run takes."""
