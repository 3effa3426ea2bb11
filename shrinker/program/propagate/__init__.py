"""Rounds of refinement: facts that only the folded tree as a whole can give, each mechanism in a file of its own.

Why this is sound. A round looks at the folded code of every kept module and derives facts such as "nobody names this
function". The next round folds with these facts, which deletes code and adds none: what was not mentioned is still
not mentioned, what had one value still has it. So a derived fact, once true, stays true, and facts of all rounds may
be used together. Only a rescue brings code back; rescues are settled before the first round.
"""
