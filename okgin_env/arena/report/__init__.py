"""A tournament as a table, as JSON, and as a folder with a page, figures and CSV files."""
