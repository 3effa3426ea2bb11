"""One file a mechanism by which kept code needs another module, a file, a distribution or a kernel."""
