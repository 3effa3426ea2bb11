"""One file a subject: how kept code needs another module, a file, a distribution or a kernel."""
