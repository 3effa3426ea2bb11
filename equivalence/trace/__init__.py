"""Every line that upstream executed stands in the generated tree, or there is a reason of a closed
list.
"""
