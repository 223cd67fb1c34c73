"""Names and words of users' code, and what each may mean; nothing here calls anything."""
