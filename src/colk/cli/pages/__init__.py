"""HTML pages and figures of the command."""
