"""DropElement without commas: decorators, annotations, and the conditions of comprehensions."""

import libcst as cst

from shrinker.emit.rewrite.named import Editing


class Definitions(Editing):
    """Removes parts of a definition or a comprehension that stand by themselves."""

    def leave_Decorator(
        self, original_node: cst.Decorator, updated_node: cst.Decorator
    ) -> cst.Decorator | cst.RemovalSentinel:
        return cst.RemoveFromParent() if self.drops(original_node.decorator) else updated_node

    # An annotation may go of a parameter, and of what is returned.
    def leave_Annotation(  # type: ignore[override]
        self, original_node: cst.Annotation, updated_node: cst.Annotation
    ) -> cst.Annotation | cst.RemovalSentinel:
        return cst.RemoveFromParent() if self.drops(original_node.annotation) else updated_node

    # So may any condition of a comprehension.
    def leave_CompIf(  # type: ignore[override]
        self, original_node: cst.CompIf, updated_node: cst.CompIf
    ) -> cst.CompIf | cst.RemovalSentinel:
        return cst.RemoveFromParent() if self.drops(original_node.test) else updated_node
