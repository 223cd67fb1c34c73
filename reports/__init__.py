"""Everything people read, as pure functions of a results record."""
