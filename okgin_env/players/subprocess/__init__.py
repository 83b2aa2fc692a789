"""Programs in any language as players (docs/protocol.md)."""
