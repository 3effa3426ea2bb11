"""What is said of native code by reading it: no decisions."""
