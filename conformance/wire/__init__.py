"""The wire contract as data, and its loading: schemas, tables, canonical form."""
