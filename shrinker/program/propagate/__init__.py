"""What only the kept modules as a whole say of one of them, so that it is folded again.

Why this is sound. Such a fact is derived from the folded code of all kept modules. To fold with it deletes code and adds none: what
nothing set to another value is still set to no other. So a fact, once true, stays true. Only a rescue brings code back; rescues are
settled before.
"""
