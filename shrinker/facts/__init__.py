"""The closed world: what every name is once the rules hold."""
