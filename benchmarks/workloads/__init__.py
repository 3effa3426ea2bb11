"""Programs that are measured and that are no tool of their own."""
