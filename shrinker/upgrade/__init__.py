"""Following upstream from day to day: compare what two of its trees give, move the pin, publish,
look at what is new.
"""
