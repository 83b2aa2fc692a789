"""The rules, compiled: small functions over one NumPy record (docs/design.md)."""
