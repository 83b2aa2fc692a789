"""The rules, compiled: small functions over one NumPy record (design.md, The idea)."""
