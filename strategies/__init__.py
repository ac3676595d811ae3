"""Everything the suite sends, drawn from the schemas: valid, at the limits, hard on code, broken in one place."""
