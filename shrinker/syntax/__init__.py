"""What Python means, said once and without decisions: everyone may ask, the judge too.

`walk` visits nodes, `bindings` says what a scope binds and under which branches, `scopes` which
scope a name belongs to, `imports` what an import statement names, `names` what an expression is
called, `control` where control goes, `side_effects` what evaluating does besides making a value,
`unroll` what loops over spelled out rows put together, `lines` and `ranges` where code stands in
its text.
"""
