"""HTML pages and figures of the commands `colk reproduce` and `colk fit`."""
